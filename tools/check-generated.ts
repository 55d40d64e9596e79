import { execFileSync } from "node:child_process";

/** Generates the protos' code again. Fails if that changes a committed file. */
execFileSync("npm", ["run", "--silent", "generate"], { stdio: "inherit" });
const changed = execFileSync("git", ["status", "--porcelain", "proto/src/gen"], {
  encoding: "utf8",
});
if (changed !== "") {
  process.stderr.write(`The generated code was not up to date; commit what changed:\n${changed}`);
  process.exitCode = 1;
}
