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

/** A program of this repository. */
export type NodeProgram = {
  /** Relative to the root of the repository. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  /** Receives the output of all its lives. */
  readonly logFile: string;
  /** The text that it logs once it works. */
  readonly readyText: string;
};

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Makes a victim of a program. */
export function nodeVictim({ script, env, logFile, readyText }: NodeProgram): Victim {
  let from = 0;
  const host = createServerHost({
    ...{ title: script, env, logFile, args: [] },
    launch: { command: process.execPath, leading: [`${ROOT}${script}`] },
    isReady: async () => (await readFile(logFile)).toString("utf8", from).includes(readyText),
  });
  return {
    ...host,
    async start() {
      from = await sizeOf(logFile);
      await host.start();
    },
  };
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}
