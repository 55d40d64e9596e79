import { simulate } from "./scale/simulate.ts";
import { tablesOf } from "./scale/tables.ts";

process.stdout.write(`${Object.values(tablesOf(simulate())).join("\n\n")}\n`);
