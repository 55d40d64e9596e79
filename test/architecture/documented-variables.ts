import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./import-rule.ts";

/** The variables of docs/configuration.md, and the `_FILE` variables that may replace them. */
export const documentedVariables: ReadonlySet<string> = new Set(
  [
    ...readFileSync(join(ROOT, "docs/configuration.md"), "utf8").matchAll(/`([A-Z][A-Z_0-9]+)`/g),
  ].flatMap(([, name = ""]) => [name, `${name}_FILE`]),
);
