import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, TSC } from "./published.ts";

// Builds `@activity/client`, the package for other services, as JavaScript and declarations before it is packed.
//
//   node tools/release/build-client.ts

const PACKAGE = join(ROOT, "proto/client");
const DIST = join(PACKAGE, "dist");

rmSync(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [TSC, "-p", join(PACKAGE, "tsconfig.json")], { stdio: "inherit" });
for (const name of readdirSync(DIST, { recursive: true, encoding: "utf8" })) {
  if (!name.endsWith(".d.ts")) continue;
  const file = join(DIST, name);
  // tsc leaves `.ts` in the imports of declarations. A user's compiler would look for those files.
  const text = readFileSync(file, "utf8").replace(/(from "\.{1,2}\/[^"]*)\.ts"/g, '$1.js"');
  writeFileSync(file, text);
}
copyFileSync(join(ROOT, "docs/errors.md"), join(PACKAGE, "errors.md"));
