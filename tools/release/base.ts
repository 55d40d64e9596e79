import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./published.ts";

// Finds the commit to compare this version with. As a program it prints the commit, and on stderr why it differs from
// the named one:
//
//   node tools/release/base.ts

const COMMIT = /^[0-9a-f]{40}$/m;

/** A commit to compare with, and a note about the choice. */
export type Base = { readonly commit: string; readonly note: string | undefined };

/**
 * Finds the commit that `.ci/base` names. If the clone lacks it, returns HEAD~1 or HEAD with a note. Throws if the
 * file names no commit, or if git finds none.
 */
export function findBase(root = ROOT): Base {
  const named = COMMIT.exec(readFileSync(join(root, ".ci/base"), "utf8"))?.[0];
  if (named === undefined)
    throw new Error(".ci/base must hold the 40 digits of a commit on a line.");
  let why = "";
  for (const name of [named, "HEAD~1", "HEAD"]) {
    try {
      const commit = resolveCommit(root, name);
      const note = `This clone lacks ${named}, which .ci/base names: ${name}, ${commit}, stands for it.`;
      return { commit, note: name === named ? undefined : note };
    } catch (error) {
      const { message, stderr } = error as Error & { stderr?: string };
      why = stderr?.trim() || message;
    }
  }
  throw new Error(`git finds no commit here to compare with: ${why}`);
}

function resolveCommit(root: string, name: string): string {
  const args = ["rev-parse", "--quiet", "--verify", `${name}^{commit}`];
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();
}

// The npm package with Node for macOS is of version 24.0, which lacks `import.meta.main`.
if (process.argv[1] === import.meta.filename) {
  const { commit, note } = findBase();
  if (note) process.stderr.write(`${note}\n`);
  process.stdout.write(`${commit}\n`);
}
