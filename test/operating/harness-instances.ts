import { expect, vi } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { requestOf } from "../harness/http.ts";
import { type Run, startProgram } from "../start/harness-program.ts";

/** Six processes that start beside each other on two cores, one of which bundles the workflows first. */
const START = { timeout: 150_000, interval: 200 };
const FALL = { timeout: 15_000, interval: 20 };

/** A process of the product at ports of its own, which comes back where it was. */
export type ProcessInstance = {
  readonly port: number;
  readonly healthPort: number;
  /** What `/ready` or `/live` says: status and state; `undefined` while nobody listens. */
  health(path: "/live" | "/ready"): Promise<readonly [number, string] | undefined>;
  /** Resolves once it is ready. */
  start(): Promise<void>;
  /** Sends SIGTERM, sees that readiness falls while it lives, and that it ends by itself with 0. */
  end(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the status that the process ends with. */
  ended(): Promise<number | null>;
  /** All that it said, in all its lives. */
  output(): string;
};

/** Makes an instance of a program, which is told its ports: `portName` is the variable of its own one, if it listens. */
export async function createInstance(
  program: string,
  portName: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<ProcessInstance> {
  const [port, healthPort] = [await findFreePort(), await findFreePort()];
  const variables = {
    ...env,
    ...(portName && { [portName]: `${port}` }),
    HEALTH_PORT: `${healthPort}`,
  };
  const lives: Run[] = [];
  const last = () => {
    const [life] = lives.slice(-1);
    if (life === undefined) throw new Error(`${program} was not started`);
    return life;
  };
  const output = () => lives.map((life) => life.output()).join("");

  async function health(path: string): Promise<readonly [number, string] | undefined> {
    const answer = await requestOf(healthPort, path, {}).catch(() => undefined);
    return answer && [answer.status, answer.json<{ status: string }>().status];
  }

  return {
    port,
    healthPort,
    health,
    async start() {
      lives.push(startProgram(program, variables));
      await vi.waitFor(async () => {
        const state = await health("/ready");
        if (state?.[0] !== 200) throw new Error(`${program} is not ready: ${state}; ${output()}`);
      }, START);
    },
    async end() {
      const ended = last().end("SIGTERM");
      await expect.poll(() => health("/ready"), FALL).toEqual([503, "draining"]);
      expect(await health("/live")).toEqual([200, "live"]);
      expect(await ended, output()).toBe(0);
    },
    signal: (signal) => void lives.at(-1)?.child.kill(signal),
    ended: () => last().ended,
    output,
  };
}
