import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { type ServerProcess, type SpawnServer, spawnServer } from "./server-process.ts";
import { StackError } from "./stack-error.ts";

/** One process of a cluster, at the same ports in all its lives. */
export interface ServerHost {
  /** `undefined` while it does not run. */
  pid(): number | undefined;
  isRunning(): boolean;
  /** Resolves once it serves. */
  start(): Promise<void>;
  /** Ends it at once, as a crash would. Throws when it had ended by itself before. */
  kill(): Promise<void>;
}

/** What starts it; its log has what it says in all its lives. */
export interface CreateServerHost extends SpawnServer {
  /** What a person calls it. */
  title: string;
  isServing(): Promise<boolean>;
}

/** Longer than a dead host of a cluster is believed to live: a new one may first ask all of them. */
const START_MILLISECONDS = 120_000;
const POLL_MILLISECONDS = 100;

/** Makes a host, which is the caller's to start. */
export function createServerHost({ title, isServing, ...spawning }: CreateServerHost): ServerHost {
  let running: ServerProcess | undefined;

  async function fail(why: string): Promise<never> {
    const log = await readFile(spawning.logFile, "utf8");
    throw new StackError(`${title} ${why}; it said: ${log.trimEnd().slice(-1_000)}`);
  }

  return {
    pid: () => running?.pid,
    isRunning: () => running !== undefined && !running.hasEnded(),
    async start() {
      const started = await spawnServer(spawning);
      running = started;
      const deadline = performance.now() + START_MILLISECONDS;
      while (!(await isServing())) {
        if (started.hasEnded()) await fail("ended");
        if (performance.now() > deadline) await fail("does not serve");
        await wait(POLL_MILLISECONDS);
      }
    },
    async kill() {
      const victim = running;
      running = undefined;
      if (victim?.hasEnded()) await fail("had ended by itself");
      await victim?.kill();
      // Its threads end one by one, and the last one frees its ports; nothing else may keep this process waiting.
      while (victim?.hasEnded() === false) await wait(POLL_MILLISECONDS);
    },
  };
}
