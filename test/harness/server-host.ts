import {
  type RunningServer,
  type StartServer,
  startServer,
} from "../../dev-stack/src/server-process.ts";
import { StackError } from "../../dev-stack/src/stack-error.ts";

/** A process of a test that can be killed and started again at the same ports. */
export type ServerHost = ReturnType<typeof createServerHost>;

/** The time limit of a start. It is long, because the parts of a Vitess wait for each other. */
const START_SECONDS = 120;

/** Creates a host. The caller starts it. */
export function createServerHost(options: StartServer) {
  let running: RunningServer | undefined;
  return {
    isRunning: () => running?.hasEnded() === false,
    /** Resolves once the process serves. */
    async start(): Promise<void> {
      if (running?.hasEnded() === false) throw new Error(`${options.title} runs already`);
      running = await startServer({ startSeconds: START_SECONDS, ...options });
    },
    /** Kills the process. Throws if it had already ended. */
    async kill(): Promise<void> {
      const victim = running;
      running = undefined;
      if (victim?.hasEnded()) {
        throw new StackError(`${options.title} had ended by itself (its log: ${options.logFile})`);
      }
      await victim?.kill();
    },
  };
}
