import { execFileSync } from "node:child_process";

/** Generates the protos' code anew and fails when that changes a file: what is committed is what they say. */
execFileSync("npm", ["run", "--silent", "generate"], { stdio: "inherit" });
const changed = execFileSync("git", ["status", "--porcelain", "proto/src/gen"], {
  encoding: "utf8",
});
if (changed !== "") {
  process.stderr.write(`The generated code was not up to date; commit what changed:\n${changed}`);
  process.exitCode = 1;
}
