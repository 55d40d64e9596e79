import { simulate } from "./scale/simulate.ts";
import { tablesOf } from "./scale/tables.ts";

process.stdout.write(`${tablesOf(simulate()).join("\n\n")}\n`);
