import { spawn } from "node:child_process";
import { baseEnv } from "../../dev-stack/src/base-env.ts";
import { untilListening } from "../harness/listening.ts";
import { type Run, watch } from "../start/harness-program.ts";

/** A receiver's report: a request arrived, or it waits for a decision at a point. */
export type Reached = {
  readonly point: "request" | "before_commit" | "before_answer";
  readonly eventId: string;
  /** For a request: alternating names and values, as received. */
  readonly rawHeaders?: readonly string[];
};

type Numbered = Reached & { readonly number?: number };

/** What a receiver does next at a point. */
export type Decision = "go" | "fail" | "kill";

/** Where a receiver runs, and the function that decides at its points. */
type ReceiverProcessOptions = {
  readonly folder: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  decide(reached: Reached): Decision | Promise<Decision>;
};

/** Starts a receiver. Resolves when it listens. */
export async function startReceiverProcess({ folder, port, env, decide }: ReceiverProcessOptions) {
  let restart: Promise<void> | undefined;

  async function start(): Promise<Run> {
    const started = watch(
      spawn(process.execPath, ["express.js"], {
        cwd: folder,
        env: { ...baseEnv(), ...env, PORT: `${port}` },
        stdio: ["ignore", "pipe", "pipe", "ipc"],
      }),
    );
    started.child.on("message", (message: Numbered) => onReached(started, message));
    await untilListening(started.child, port).catch((error) => {
      throw new Error(`${error.message}\n${started.output()}`);
    });
    return started;
  }

  async function onReached(from: Run, { number, ...reached }: Numbered) {
    const decision = await decide(reached);
    // A restarted receiver is `current` only once it listens. A report from any other process is from a killed one.
    await restart;
    if (from !== current || number === undefined || !from.child.connected) return;
    if (decision === "kill") await kill();
    else from.child.send({ number, decision }, () => {});
  }

  async function killAndStart(): Promise<void> {
    await current.end("SIGKILL");
    current = await start();
    restart = undefined;
  }
  function kill(): Promise<void> {
    restart ??= killAndStart();
    return restart;
  }

  let current = await start();
  return {
    /** Kills the receiver with SIGKILL and starts it again on the same port. */
    kill,
    async stop() {
      await restart;
      await current.end("SIGKILL");
    },
  };
}
