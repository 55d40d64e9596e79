import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type ExplainedFinding, readAudit } from "./audit-report.ts";
import { ROOT } from "./published.ts";

// Asks the registry for known vulnerabilities of all packages in the lock file. Exits with 1 if audit-explained.json
// leaves one unexplained, or explains one that was not found. Exits with 0 and a note if the registry does not answer.
//
//   node tools/release/audit.ts

const ONCE = ["--fetch-retries=0", "--fetch-timeout=30000"];
const { stdout } = spawnSync("npm", ["audit", "--json", "--package-lock-only", ...ONCE], {
  cwd: ROOT,
  encoding: "utf8",
});
const today = new Date().toISOString().slice(0, 10);
const explained: readonly ExplainedFinding[] = JSON.parse(
  readFileSync(new URL("audit-explained.json", import.meta.url), "utf8"),
);
const result = readAudit(stdout, explained, today);
switch (result.kind) {
  case "not_asked":
    process.stdout.write(`Nobody was asked: ${result.reason}. Ask again from another network.\n`);
    break;
  case "asked":
    for (const line of result.found) process.stderr.write(`${line}\n`);
    for (const advisory of result.unused) {
      process.stderr.write(`${advisory} is explained and not found: take it out.\n`);
    }
    process.stdout.write(`${result.found.length} unexplained vulnerabilities\n`);
    process.exitCode = result.found.length + result.unused.length > 0 ? 1 : 0;
}
