import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createServerHost } from "../../harness/server-host.ts";

/** A process that tests kill and restart. */
export type Victim = {
  /** Starts the process and waits until it works. */
  start(): Promise<void>;
  /** Kills the process with SIGKILL. Throws if it had already ended. */
  kill(): Promise<void>;
  isRunning(): boolean;
};

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * Makes a victim of a program of this repository. `logFile` receives the output of all its lives. `readyText` is what it
 * logs once it works.
 */
export function nodeVictim(
  script: string,
  env: NodeJS.ProcessEnv,
  logFile: string,
  readyText: string,
): Victim {
  let from = 0;
  const host = createServerHost({
    ...{ title: script, env, logFile, args: [] },
    launch: { command: process.execPath, leading: [`${ROOT}${script}`] },
    isReady: async () => (await readFile(logFile)).toString("utf8", from).includes(readyText),
  });
  return {
    ...host,
    async start() {
      from = (await stat(logFile).catch(() => undefined))?.size ?? 0;
      await host.start();
    },
  };
}
