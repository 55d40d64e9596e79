import { vi } from "vitest";
import { ROOT } from "../architecture/import-rule.ts";
import { startProgram } from "../start/harness-program.ts";

/** What runs as a process of its own, by its program, and what it logs once it works. */
const PARTS = {
  core: { program: "server/src/main.ts", ready: "core listens" },
  gateway: { program: "gateway/src/main.ts", ready: "gateway listens" },
  deliveries: { program: "workflows/src/main.ts", ready: "deliveries run" },
};

/** A process that works. */
export type Part = {
  /** The port that it listens on, 0 for deliveries. */
  readonly port: number;
  readonly pid: number;
  readonly output: () => string;
  /** Tells it to end, and waits until it has. */
  stop(): Promise<void>;
  kill(): Promise<void>;
};

/** Starts a part, of the version in `root`, and waits until it works. Rejects with what it said when it ends. */
export async function startPart(
  name: keyof typeof PARTS,
  env: Readonly<Record<string, string>>,
  root = ROOT,
): Promise<Part> {
  const { program, ready } = PARTS[name];
  const { child, output, untilSaid, end } = startProgram(program, env, root);
  await untilSaid(`"${ready}"`);
  const isReady = (text: string) => text.includes(`"${ready}"`) && text.endsWith("}");
  const line = await vi.waitUntil(() => output().split("\n").find(isReady));
  const { port = 0 } = JSON.parse(line);
  return {
    ...{ port, pid: child.pid ?? 0, output },
    stop: async () => void (await end("SIGTERM")),
    kill: async () => void (await end("SIGKILL")),
  };
}
