import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { findBase } from "../../tools/release/base.ts";
import { ROOT } from "../architecture/import-rule.ts";

const WORKSPACES = ["proto", "runtime", "server", "gateway", "workflows"];
const MIGRATIONS = "server/src/database/migrations";

/**
 * Puts the base commit's files into a folder of `.cache`, once. It uses this version's packages if the lock files are
 * equal, otherwise its own from npm. Prints the commit and returns the folder. Throws if a migration has changed since:
 * that database could not be migrated to this version's schema.
 */
export function checkOutPrevious(): string {
  const { commit, note } = findBase(ROOT);
  process.stderr.write(`${note ?? "The version before is that of .ci/base"}: ${commit}\n`);
  const cache = join(ROOT, ".cache/previous");
  const root = join(cache, commit);
  if (!existsSync(root)) {
    const unfinished = join(cache, `unfinished-${process.pid}`);
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true });
    const archive = [
      "archive",
      commit,
      "package.json",
      "package-lock.json",
      "tools",
      ...WORKSPACES,
    ];
    const tar = execFileSync("git", archive, { cwd: ROOT, maxBuffer: 1 << 28 });
    execFileSync("tar", ["-x", "-C", unfinished], { input: tar });
    installPackages(unfinished);
    // Bundles the workflows now, because otherwise each worker of that version would bundle them.
    execFileSync(process.execPath, ["workflows/src/build.ts"], { cwd: unfinished, stdio: "pipe" });
    try {
      renameSync(unfinished, root);
    } catch (error) {
      // Drops this copy if another process has checked out the commit meanwhile.
      if (!existsSync(root)) throw error;
      rmSync(unfinished, { recursive: true });
    }
  }
  refuseChangedMigrations(root);
  return root;
}

function installPackages(root: string): void {
  const lockOf = (folder: string) => readFileSync(join(folder, "package-lock.json"), "utf8");
  if (lockOf(root) !== lockOf(ROOT)) {
    const workspaces = WORKSPACES.flatMap((name) => ["--workspace", name]);
    const args = ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", ...workspaces];
    execFileSync("npm", args, { cwd: root, stdio: "pipe" });
    return;
  }
  // Links the `@activity` packages. Node finds all other packages in the folder above, whose `@activity` packages are
  // this version's.
  mkdirSync(join(root, "node_modules/@activity"), { recursive: true });
  for (const name of WORKSPACES) {
    symlinkSync(`../../${name}`, join(root, "node_modules/@activity", name));
  }
}

function refuseChangedMigrations(root: string): void {
  const read = (folder: string, name: string) =>
    readFileSync(join(folder, MIGRATIONS, name), "utf8");
  const now = new Set(readdirSync(join(ROOT, MIGRATIONS)));
  const changed = readdirSync(join(root, MIGRATIONS)).filter(
    (name) => !now.has(name) || read(root, name) !== read(ROOT, name),
  );
  if (changed.length === 0) return;
  throw new Error(
    `${changed.join(", ")} changed in place since the version before. Restore it and add a migration; until the first release, .ci/base may be moved to the commit that changed it, with the reason.`,
  );
}
