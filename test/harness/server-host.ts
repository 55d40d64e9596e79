import {
  type RunningServer,
  type StartServer,
  startServer,
} from "../../dev-stack/src/server-process.ts";
import { StackError } from "../../dev-stack/src/stack-error.ts";

/** One process of a test, at the same ports in all its lives. */
export interface ServerHost {
  /** `undefined` while it does not run. */
  pid(): number | undefined;
  isRunning(): boolean;
  /** Resolves once it serves. */
  start(): Promise<void>;
  /** Ends it at once, as a crash would. Throws when it had ended by itself before. */
  kill(): Promise<void>;
}

/** Longer than a cluster keeps a dead host in its list of members: a new host may first ask all of them. */
const START_SECONDS = 120;

/** Makes a host, which is the caller's to start. */
export function createServerHost(options: StartServer): ServerHost {
  let running: RunningServer | undefined;
  return {
    pid: () => running?.pid,
    isRunning: () => running?.hasEnded() === false,
    async start() {
      if (running?.hasEnded() === false) throw new Error(`${options.title} runs already`);
      running = await startServer({ startSeconds: START_SECONDS, ...options });
    },
    async kill() {
      const victim = running;
      running = undefined;
      if (victim?.hasEnded()) {
        throw new StackError(`${options.title} had ended by itself (its log: ${options.logFile})`);
      }
      await victim?.kill();
    },
  };
}
