import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Progress } from "./progress.ts";
import { runCommand } from "./run-command.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = "dashboard/dist/index.html";
const BUILD = ["run", "build", "--workspace", "dashboard"];
/** The sources of the page, and their folders: a folder's time changes when a file in it is removed. */
const SOURCES = [
  ...["dashboard/{src,public}/**", "dashboard/{index.html,package.json,vite.config.ts}"],
  ...["{proto,runtime}/src/**", "proto/package.json"],
];

/**
 * Builds the dashboard's page if its sources have changed. Returns whether there is a page. Without it the product
 * still runs, and the page's address explains what is missing.
 */
export async function buildDashboard(progress: Progress): Promise<boolean> {
  const changes = globSync(SOURCES, { cwd: ROOT }).map(changedMs);
  if (changedMs(PAGE) > Math.max(...changes)) return true;
  const [command = "", ...args] = npmCommand(process.env);
  const { status, lines } = await progress.step("Building the dashboard", () =>
    runCommand(command, [...args, "--prefix", ROOT, ...BUILD]),
  );
  if (status === 0) return true;
  process.stderr.write(`The dashboard could not be built: ${lines.join("\n")}\n`);
  return false;
}

/** Returns how to run npm. On Windows it cannot be run by name. */
export function npmCommand({ npm_execpath: path = "" }: NodeJS.ProcessEnv): string[] {
  // npm sets `npm_execpath` to its own path. pnpm and yarn set it too, but their options differ, so their paths are not
  // used.
  return path.endsWith("npm-cli.js") ? [process.execPath, path] : ["npm"];
}

/** Returns the time of a file's last change; 0 if there is no such file. */
function changedMs(path: string): number {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
