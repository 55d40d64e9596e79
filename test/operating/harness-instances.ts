import { expect, vi } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { requestOf } from "../harness/http.ts";
import { type Run, startProgram } from "../start/harness-program.ts";
import { PARTS, type PartName, type Variables } from "./harness-parts.ts";

/** The time limit of a start: enough for six processes at once on two cores. One bundles the workflows first. */
const START = { timeout: 150_000, interval: 200 };
const FALL = { timeout: 15_000, interval: 20 };

type HealthPath = "/live" | "/ready";

/** Reads a process's health: status and state. `undefined` while nothing listens. */
export async function healthAt(port: number, path: HealthPath) {
  const answer = await requestOf(port, path, {}).catch(() => undefined);
  return answer && ([answer.status, answer.json<{ status: string }>().status] as const);
}

/** A process of the product that can restart at the same ports. */
export type ProcessInstance = Awaited<ReturnType<typeof createInstance>>;

export async function createInstance(name: PartName, env: Variables) {
  const [port, healthPort] = [await findFreePort(), await findFreePort()];
  // CORE_PORT or GATEWAY_PORT. Deliveries read no such variable.
  const portName = `${name.toUpperCase()}_PORT`;
  const variables = { ...env, HEALTH_PORT: `${healthPort}`, [portName]: `${port}` };
  const lives: Run[] = [];
  const last = () => {
    const run = lives.at(-1);
    if (run === undefined) throw new Error(`${name} was not started`);
    return run;
  };
  const output = () => lives.map((life) => life.output()).join("");
  const health = (path: HealthPath) => healthAt(healthPort, path);

  return {
    ...{ port, healthPort },
    pid: () => last().child.pid,
    output,
    /** Resolves once the instance is ready. Rejects if it ends first. */
    async start() {
      const run = startProgram(PARTS[name].program, variables);
      lives.push(run);
      const ready = vi.waitFor(async () => {
        const state = await health("/ready");
        if (state?.[0] !== 200) throw new Error(`${name} is not ready: ${state}; ${output()}`);
      }, START);
      const ended = run.ended.then((status) => {
        throw new Error(`${name} ended with ${status}; ${output()}`);
      });
      await Promise.race([ready, ended]);
    },
    /** Sends SIGTERM. Checks that it stops being ready while it lives, and that it exits with 0. */
    async end() {
      last().child.kill("SIGTERM");
      await expect.poll(() => health("/ready"), FALL).toEqual([503, "draining"]);
      expect(await health("/live")).toEqual([200, "live"]);
      expect(await last().ended, output()).toBe(0);
    },
    signal: (signal: NodeJS.Signals) => void lives.at(-1)?.child.kill(signal),
  };
}
