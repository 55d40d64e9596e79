import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { createProgress } from "./progress.ts";
import { fetchRealMysql } from "./server-program.ts";
import { StackError } from "./stack-error.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

process.exitCode = await main(process.argv.slice(2), process.env);

/** Runs a command, found like npm finds it, with `MYSQLD` naming a real MySQL server. */
async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [command, ...args] = argv;
  if (command === undefined) {
    console.error("usage: node dev-stack/src/run-on-mysql.ts COMMAND [ARGUMENT …]");
    return 2;
  }
  try {
    const mysqld = await fetchRealMysql({ env, progress: createProgress() });
    const bin = join(import.meta.dirname, "../../node_modules/.bin");
    const path = [bin, env.PATH ?? ""].join(delimiter);
    // A given database would win over the server this command is about.
    const { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...rest } = env;
    return await run(command, args, { ...rest, PATH: path, MYSQLD: mysqld });
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    console.error(error.message);
    return 1;
  }
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: "inherit" });
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, forward);
    child.once("error", (error) =>
      reject(new StackError(`${command} cannot be run: ${error.message}.`, { cause: error })),
    );
    child.once("close", (status, signal) => {
      for (const name of FORWARDED) process.off(name, forward);
      resolve(status ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}
