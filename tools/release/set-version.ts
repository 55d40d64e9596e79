import { execFileSync } from "node:child_process";
import { ROOT } from "./published.ts";
import { writeVersion } from "./versioned.ts";

// Run by `npm version VERSION`, which has written the root's package.json: the other places follow, in the same commit.

execFileSync("git", ["add", ...writeVersion(ROOT)], { cwd: ROOT, stdio: "inherit" });
