import { readFileSync } from "node:fs";
import * as kit from "receiver-kit";
import * as fetchAdapter from "receiver-kit/fetch";
import * as memory from "receiver-kit/memory";
import { checkCore } from "./check-core.mjs";

const file = new URL(import.meta.resolve("receiver-kit/vectors.json"));
const { vectors } = JSON.parse(readFileSync(file, "utf8"));
console.log(await checkCore({ kit, memory, fetchAdapter, vectors }));
