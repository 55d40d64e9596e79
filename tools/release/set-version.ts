import { execFileSync } from "node:child_process";
import { ROOT } from "./published.ts";
import { writeVersion } from "./versioned.ts";

// `npm version VERSION` runs this after it wrote the root's package.json. It updates the other files in the same
// commit.

execFileSync("git", ["add", ...writeVersion(ROOT)], { cwd: ROOT, stdio: "inherit" });
