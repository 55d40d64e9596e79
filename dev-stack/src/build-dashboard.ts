import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Progress } from "./progress.ts";
import { runCommand } from "./run-command.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = join(ROOT, "dashboard/dist/index.html");
const BUILD = ["run", "build", "--workspace", "dashboard"];
/** The sources of the page. */
const SOURCES = [
  ...["src", "public", "index.html", "package.json", "vite.config.ts"].map(
    (name) => `dashboard/${name}`,
  ),
  ...["proto/src", "proto/package.json", "runtime/src"],
];

/**
 * Builds the dashboard's page if its sources have changed. Returns whether there is a page. Without it the product
 * still runs, and the page's address explains what is missing.
 */
export async function buildDashboard(progress: Progress): Promise<boolean> {
  const builtMs = await changedMs(PAGE);
  const changes = await Promise.all(SOURCES.map((source) => newestMs(join(ROOT, source))));
  if (builtMs > Math.max(...changes)) return true;
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
  // npm tells its programs its own path. So do pnpm and yarn, whose options differ.
  return path.endsWith("npm-cli.js") ? [process.execPath, path] : ["npm"];
}

/** Returns the time of the newest change of a file, or of the files in a folder. Returns 0 if there is none. */
async function newestMs(path: string): Promise<number> {
  const inside = await readdir(path, { recursive: true }).catch(() => []);
  const changes = await Promise.all(inside.map((name) => changedMs(join(path, name))));
  return Math.max(await changedMs(path), ...changes);
}

const changedMs = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
