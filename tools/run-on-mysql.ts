import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { createProgress } from "../dev-stack/src/progress.ts";
import { fetchRealMysql } from "../dev-stack/src/server-program.ts";
import { StackError } from "../dev-stack/src/stack-error.ts";

const [command, ...args] = process.argv.slice(2);
// Drops a given database, which would replace the server that this command needs.
const { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...env } = process.env;

/**
 * Runs a command with `MYSQLD` set to a real MySQL server. Looks for the command in node_modules/.bin first, as npm
 * does.
 */
async function run(program: string): Promise<void> {
  const MYSQLD = await fetchRealMysql({ env, progress: createProgress() });
  const PATH = [join(import.meta.dirname, "../node_modules/.bin"), env.PATH].join(delimiter);
  const child = spawn(program, args, { env: { ...env, PATH, MYSQLD }, stdio: "inherit" });
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => child.kill(name));
  }
  child.once("error", ({ message }) => fail(`${program} cannot be run: ${message}.`, 1));
  child.once("close", (status, signal) => {
    process.exitCode = status ?? 128 + (signal ? constants.signals[signal] : 0);
  });
}

function fail(message: string, status: number): void {
  console.error(message);
  process.exitCode = status;
}

try {
  if (command !== undefined) await run(command);
  else fail("usage: node tools/run-on-mysql.ts COMMAND [ARGUMENT …]", 2);
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  fail(error.message, 1);
}
