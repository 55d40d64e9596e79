import { createRequire } from "node:module";
import * as kit from "receiver-kit";
import * as fetchAdapter from "receiver-kit/fetch";
import * as memory from "receiver-kit/memory";
import { checkCore } from "./check-core.mjs";

const { vectors } = createRequire(import.meta.url)("receiver-kit/vectors.json");
console.log(await checkCore({ kit, memory, fetchAdapter, vectors }));
