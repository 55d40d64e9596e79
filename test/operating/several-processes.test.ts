import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, expect, it, vi } from "vitest";
import { baseEnv } from "../../dev-stack/src/base-env.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { ROOT } from "../architecture/import-rule.ts";
import { createReader } from "../harness/builders.ts";
import { requestOf } from "../harness/http.ts";
import { useTestStack } from "../harness/stack.ts";
import { type Run, useRuns, watch } from "../start/harness-program.ts";
import { KEYS, NO_TEMPORAL } from "./harness-parts.ts";

const START = { timeout: 90_000, interval: 100 };
const LIMIT = 120;

const stack = useTestStack();
const start = useRuns((args: readonly string[], env: NodeJS.ProcessEnv) => {
  const command = ["tools/serve/serve.ts", ...args];
  return watch(spawn(process.execPath, command, { cwd: ROOT, env: { ...baseEnv(), ...env } }));
});

let run: Run;
let ports: Record<"gateway" | "health" | "metrics", number>;
beforeAll(async () => {
  ports = {
    gateway: await findFreePort(),
    health: await findFreePort(),
    metrics: await findFreePort(),
  };
  run = start(["--processes", "2"], {
    ...{ ...KEYS, ...NO_TEMPORAL, DATABASE_URL: stack.database.url, CORE_PORT: "0" },
    ...{ GATEWAY_PORT: `${ports.gateway}`, HEALTH_PORT: `${ports.health}` },
    ...{ METRICS_PORT: `${ports.metrics}`, DRAIN_SECONDS: "2" },
  });
  await vi.waitUntil(async () => (await health())?.[0] === 200, START);
}, START.timeout);

async function health() {
  const answer = await requestOf(ports.health, "/ready", {}).catch(() => undefined);
  return answer && ([answer.status, answer.json<{ status: string }>().status] as const);
}

/** Sends a request on a new connection. Resolves with the status, or 0 without an answer. */
const ask = (apiKey: string) =>
  requestOf(ports.gateway, "/api/v1/me", { apiKey, headers: { connection: "close" } })
    .then(({ status }) => status)
    .catch(() => 0);

/** The number of requests that each process has answered. */
async function answeredBy(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();
  const name = "activity_gateway_request_duration_seconds_count";
  const line = new RegExp(`^${name}\\{.*code="200".*process="(\\d)".*\\} (\\d+)$`, "gm");
  return new Map([...text.matchAll(line)].map(([, place = "", count]) => [place, Number(count)]));
}

/** The ids of the child processes. */
async function processes(): Promise<number[]> {
  const pid = run.child.pid ?? 0;
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

it("answers from all processes at one port, counts them on one page, and limits them together, ADR 0055", async () => {
  const { apiKey } = await createReader(stack);
  const statuses = [];
  for (let asked = 0; asked < LIMIT + 5; asked += 1) statuses.push(await ask(apiKey));
  expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
  expect(statuses.slice(LIMIT)).toEqual(new Array(5).fill(429));
  const answered = await answeredBy();
  expect([...answered.keys()].sort()).toEqual(["1", "2"]);
  expect((answered.get("1") ?? 0) + (answered.get("2") ?? 0)).toBe(LIMIT);
});

it("serves on while a process that was killed is started again, ADR 0055", async () => {
  const { apiKey } = await createReader(stack);
  const [killed] = await processes();
  process.kill(killed ?? 0, "SIGKILL");
  await run.untilSaid("a process ended by itself");
  expect([await ask(apiKey), await health()]).toEqual([200, [200, "serving"]]);
  await expect.poll(async () => (await processes()).length, START).toBe(2);
  const answering = async () => {
    await ask(apiKey);
    return (await answeredBy()).size;
  };
  await expect.poll(answering, START).toBe(2);
});

it("ends all its processes, with 1, when one cannot start: a port is taken, ADR 0055", async () => {
  const second = start(["--processes", "2"], {
    ...{ ...KEYS, ...NO_TEMPORAL, DATABASE_URL: stack.database.url, CORE_PORT: "0" },
    GATEWAY_PORT: `${ports.gateway}`,
  });
  expect(await second.closed, second.output()).toBe(1);
  expect(second.output()).toContain("EADDRINUSE");
});

it("drains all its processes together: no request fails, and it ends with 0, ADR 0043", async () => {
  const { apiKey } = await createReader(stack);
  const statuses: number[] = [];
  let isAsked = true;
  const asking = (async () => {
    for (; isAsked; await wait(50)) statuses.push(await ask(apiKey));
  })();
  run.child.kill("SIGTERM");
  await expect.poll(health).toEqual([503, "draining"]);
  await wait(1_000);
  isAsked = false;
  await asking;
  expect(await run.ended, run.output()).toBe(0);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

it.each(["0", "65", "two"])("refuses --processes %s, and says what it takes", async (count) => {
  const refused = start(["--processes", count], {});
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain("N must be a whole number from 1 to 64, or auto.");
});

it("says once why it cannot start, and ends with 1", async () => {
  const DATABASE_URL = "mysql://nobody@127.0.0.1:1/x";
  const refused = start(["--processes", "2"], { ...KEYS, ...NO_TEMPORAL, DATABASE_URL });
  expect(await refused.closed).toBe(1);
  expect(refused.output().match(/could not start/g)).toHaveLength(1);
});
