import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, expect, it, vi } from "vitest";
import { findFreePort, findFreePorts } from "../../dev-stack/src/free-port.ts";
import { readProcesses } from "../../tools/serve/processes.ts";
import { createReader } from "../harness/builders.ts";
import { floodUntilNoneIsLate } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import { useTestStack } from "../harness/stack.ts";
import { type Run, usePrograms } from "../start/harness-program.ts";
import { healthAt } from "./harness-instances.ts";
import { variablesOf } from "./harness-parts.ts";

const START = { timeout: 90_000, interval: 100 };
const LIMIT = 120;
const DRAIN_MS = 6_000;
const SERVE = "tools/serve/serve.ts --processes";

const stack = useTestStack();
const start = usePrograms();

let run: Run;
const [gateway = 0, healthPort = 0] = await findFreePorts(2);
const metrics = await findMetricsPort();
beforeAll(async () => {
  run = start(`${SERVE} 2`, {
    ...{ ...(await variablesOf("serve", stack)), GATEWAY_PORT: `${gateway}` },
    ...{ HEALTH_PORT: `${healthPort}`, METRICS_PORT: `${metrics}` },
    ...{ DRAIN_SECONDS: `${DRAIN_MS / 1_000}`, TRUSTED_PROXIES: "127.0.0.1/32" },
  });
  await vi.waitUntil(async () => {
    if (run.child.exitCode !== null) throw new Error(`It ended: ${run.output()}`);
    return (await health())?.[0] === 200;
  }, START);
});

/** Finds a METRICS_PORT with a free port after it for each of two processes. `findFreePort` keeps the first free. */
async function findMetricsPort(): Promise<number> {
  for (let port = await findFreePort(); ; ) {
    const next = await findFreePort();
    if (next === port + 2) return port;
    port = next;
  }
}

const health = () => healthAt(healthPort, "/ready");

let asked = 0;
/**
 * Sends a request on a new connection, from one of many addresses, so that only the account's limit counts. Resolves
 * with the status, or 0 without an answer.
 */
const ask = (apiKey: string) => {
  const headers = { connection: "close", "x-forwarded-for": `192.0.2.${asked++ % 200}` };
  return requestOf(gateway, "/api/v1/me", { apiKey, headers })
    .then(({ status }) => status)
    .catch(() => 0);
};

async function answeredBy(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const name = "activity_gateway_request_duration_seconds_count";
  // prom-client itself would leave this metric out of a page of several processes.
  expect(text).toMatch(/^process_start_time_seconds\{process="\d"\} /m);
  expect(text).toMatch(/^activity_processes 2$/m);
  const line = new RegExp(`^${name}\\{.*code="200".*process="(\\d)".*\\} (\\d+)$`, "gm");
  return new Map([...text.matchAll(line)].map(([, number = "", count]) => [number, Number(count)]));
}

async function processes(): Promise<number[]> {
  const pid = run.child.pid ?? 0;
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

it("answers from all processes at one port, counts them on one page, and limits them together, ADR 0055", async () => {
  let admitted = 0;
  const [statuses = []] = await floodUntilNoneIsLate(LIMIT, async () => {
    const { apiKey } = await createReader(stack);
    const statuses: number[] = [];
    while (statuses.length < LIMIT + 5) statuses.push(await ask(apiKey));
    admitted += statuses.filter((status) => status === 200).length;
    return [statuses];
  });
  expect(statuses).toEqual([...new Array(LIMIT).fill(200), ...new Array(5).fill(429)]);
  const answered = await answeredBy();
  expect([...answered.keys()].sort()).toEqual(["1", "2"]);
  expect((answered.get("1") ?? 0) + (answered.get("2") ?? 0)).toBe(admitted);
});

it("shows the metrics of the others while a process does not answer, ADR 0055", async () => {
  const [frozen = 0] = await processes();
  process.kill(frozen, "SIGSTOP");
  const answered = await answeredBy().finally(() => process.kill(frozen, "SIGCONT"));
  expect(answered.size).toBe(1);
});

it(
  "keeps serving while it restarts a killed process, ADR 0055",
  async () => {
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
  },
  3 * START.timeout,
);

it("ends all its processes with 1 when one cannot start because a port is taken, ADR 0055", async () => {
  const env = { ...(await variablesOf("serve", stack)), GATEWAY_PORT: `${gateway}` };
  const second = start(`${SERVE} 2`, env);
  expect(await second.closed, second.output()).toBe(1);
  expect(second.output()).toContain("EADDRINUSE");
});

it("drains all its processes together: no request fails, and it ends with 0, ADR 0043", async () => {
  const { apiKey } = await createReader(stack);
  const statuses: number[] = [];
  let isAsked = true;
  // Stops asking before the processes end. They end after their time to drain, even if a busy machine delays this test.
  const askUntilMs = performance.now() + DRAIN_MS - 1_000;
  const asking = (async () => {
    for (; isAsked && performance.now() < askUntilMs; await wait(50)) {
      statuses.push(await ask(apiKey));
    }
  })();
  run.child.kill("SIGTERM");
  await expect.poll(health).toEqual([503, "draining"]);
  await wait(1_000);
  isAsked = false;
  await asking;
  expect(await run.ended, run.output()).toBe(0);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

it.each(["0", "65", "two"])("refuses --processes %s and names the valid values", (count) => {
  const refused = "N must be a whole number from 1 to 64, or auto.";
  expect(() => readProcesses(["--processes", count])).toThrow(refused);
});

it("refuses a METRICS_PORT without a port for each process, before it needs the database", async () => {
  const env = { ...(await variablesOf("serve", stack)), DATABASE_URL: "mysql://u@127.0.0.1:1/x" };
  const refused = start(`${SERVE} 8`, { ...env, METRICS_PORT: "65528" });
  expect(await refused.closed).toBe(1);
  const sentence = "METRICS_PORT must be a whole number from 0 to 65527 with --processes 8.";
  expect(refused.output().trim()).toBe(sentence);
});

it("says once why it cannot start, and ends with 1", async () => {
  const env = { ...(await variablesOf("serve", stack)), DATABASE_URL: "mysql://u@127.0.0.1:1/x" };
  const refused = start(`${SERVE} 2`, env);
  expect(await refused.closed).toBe(1);
  expect(refused.output().match(/could not start/g)).toHaveLength(1);
});
