import { readText } from "./import-rule.ts";

/** The variables of docs/configuration.md, and the `_FILE` variables that may replace them. */
export const documentedVariables: ReadonlySet<string> = new Set(
  [...readText("docs/configuration.md").matchAll(/`([A-Z][A-Z_0-9]+)`/g)].flatMap(
    ([, name = ""]) => [name, `${name}_FILE`],
  ),
);
