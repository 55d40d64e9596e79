import { expect, it } from "vitest";
import { npmCommand } from "./build-dashboard.ts";

it.each([
  ["/usr/lib/node_modules/npm/bin/npm-cli.js", [process.execPath]],
  ["/usr/lib/node_modules/pnpm/bin/pnpm.cjs", undefined],
  ["/usr/share/yarn/bin/yarn.js", undefined],
  [undefined, undefined],
])("builds with npm, even if %s runs the start", (path, node) => {
  expect(npmCommand({ npm_execpath: path })).toEqual(node ? [...node, path] : ["npm"]);
});
