import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { baseEnv } from "../../dev-stack/src/base-env.ts";
import { untilListening } from "../harness/listening.ts";

/** A receiver's report: a request arrived, or it waits for a decision at a point. */
export type Reached = {
  readonly point: "request" | "before_commit" | "before_answer";
  readonly eventId: string;
  /** For a request: alternating names and values, as received. */
  readonly rawHeaders?: readonly string[];
  /** For an answer. */
  readonly statusCode?: number;
};

/** What a receiver does next at a point. */
export type Decision = "go" | "fail" | "kill";

/** A receiver's program, and the function that decides at its points. */
export type ReceiverProcessOptions = {
  readonly folder: string;
  readonly program: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  decide(reached: Reached): Decision | Promise<Decision>;
};

/** Starts a receiver. Resolves when it listens. */
export async function startReceiverProcess(options: ReceiverProcessOptions) {
  let output = "";
  let restart: Promise<void> | undefined;

  async function start(): Promise<ChildProcess> {
    const started = spawn(process.execPath, [options.program], {
      cwd: options.folder,
      env: { ...baseEnv(), ...options.env, PORT: String(options.port) },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [started.stdout, started.stderr]) {
      stream?.on("data", (chunk) => {
        output += chunk;
      });
    }
    started.on("message", (message: Reached & { number?: number }) => onReached(started, message));
    await untilListening(started, options.port).catch((error) => {
      throw new Error(`${options.program}: ${error.message}\n${output}`);
    });
    return started;
  }

  async function onReached(
    from: ChildProcess,
    { number, ...reached }: Reached & { number?: number },
  ) {
    const decision = await options.decide(reached);
    // A restarting child becomes `child` only once it listens. A report from any other process is from a killed one.
    await restart;
    if (from !== child || number === undefined || !from.connected) return;
    if (decision === "kill") await kill();
    else from.send({ number, decision }, () => {});
  }

  async function killAndStart(): Promise<void> {
    await end(child);
    child = await start();
    restart = undefined;
  }
  function kill(): Promise<void> {
    restart ??= killAndStart();
    return restart;
  }

  let child = await start();
  return {
    /** Kills the receiver with SIGKILL and starts it again on the same port. */
    kill,
    async stop() {
      await restart;
      await end(child);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
