import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";

/** Generates the protos' code again. Fails if that changes a file. */
const before = readGenerated();
execFileSync("npm", ["run", "--silent", "generate"], { stdio: "inherit" });
const after = readGenerated();
const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
  (path) => before.get(path) !== after.get(path),
);
if (changed.length > 0) {
  process.stderr.write(
    `The generated code was old. These files are new now:\n${changed.join("\n")}\n`,
  );
  process.exitCode = 1;
}

function readGenerated(): Map<string, string> {
  const paths = globSync("proto/src/gen/**/*.ts");
  return new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
}
