import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createServerHost } from "../../harness/server-host.ts";

/** Something with a process of its own that is killed and started again. */
export type Victim = {
  /** Starts it and waits until it works. */
  start(): Promise<void>;
  /** Ends it at once, `kill -9`. Throws when it had ended by itself before. */
  kill(): Promise<void>;
  isRunning(): boolean;
};

/** A program of this repository, and how to see that it works. */
export type NodeProgram = {
  /** From the root of the repository. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  /** Receives what it says, of all its lives. */
  readonly logFile: string;
  /** What it logs once it works. */
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
