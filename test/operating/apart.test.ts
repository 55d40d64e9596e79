import type { ChildProcess } from "node:child_process";
import { Permission } from "@activity/server";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { startProgram } from "../start/harness-program.ts";

const KEYS = { CURSOR_KEYS: "ab".repeat(32), SECRET_KEYS: "cd".repeat(32) };
const CORE = "server/src/main.ts";
const GATEWAY = "gateway/src/main.ts";
const DELIVERIES = "workflows/src/main.ts";

let stack: TestStack;
/** What each process is given to run by itself. */
let own: Record<string, () => Promise<Record<string, string>>>;
const started: ChildProcess[] = [];
beforeAll(async () => {
  stack = await startTestStack();
  const CORE_URL = `http://127.0.0.1:${stack.corePort}`;
  own = {
    [CORE]: async () => ({ ...KEYS, DATABASE_URL: stack.database.url, CORE_PORT: "0" }),
    [GATEWAY]: async () => ({
      ...{ CORE_URL, GATEWAY_PORT: "0" },
      GATEWAY_CREDENTIAL: await stack.credential(Permission.ClientAddressForward),
    }),
    [DELIVERIES]: async () => ({
      ...{ CORE_URL, TEMPORAL_ADDRESS: "127.0.0.1:1" },
      CORE_CREDENTIAL: await stack.credential(Permission.DeliveryDispatch),
    }),
  };
});
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await stack.stop();
});

function run(program: string, env: Record<string, string>) {
  const one = startProgram(program, env);
  started.push(one.child);
  return one;
}

it.each([
  [CORE, "activity_outbox_entries", "activity_attempts_in_flight"],
  [GATEWAY, "activity_gateway_request_duration_seconds", "activity_outbox_entries"],
  [DELIVERIES, "activity_attempts_in_flight", "activity_outbox_entries"],
])(
  "%s serves what it counts itself at METRICS_PORT, and ends with SIGTERM",
  async (program, has, hasNot) => {
    const port = await findFreePort();
    const metrics = { METRICS_PORT: `${port}` };
    const { child, output, end } = run(program, { ...(await own[program]?.()), ...metrics });
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    // Families come as their parts start.
    const scraped = await vi.waitUntil(
      async () => {
        if (child.exitCode !== null) throw new Error(output());
        const text = await get("/metrics").then(
          (response) => response.text(),
          () => "",
        );
        return text.includes(`# TYPE ${has} `) && text;
      },
      { timeout: 30_000, interval: 100 },
    );
    expect(scraped).toContain("nodejs_eventloop_lag_p99_seconds ");
    expect(scraped).not.toContain(hasNot);
    expect((await get("/")).status).toBe(404);
    expect(await end("SIGTERM")).toBe(0);
  },
);

it.each([CORE, GATEWAY, DELIVERIES])(
  "%s names a METRICS_PORT that is none, and ends when it is taken",
  async (program) => {
    const env = (await own[program]?.()) ?? {};
    const wrong = run(program, { ...env, METRICS_PORT: "geheim" });
    expect(await wrong.ended).toBe(1);
    expect(wrong.output()).toContain("METRICS_PORT must be a whole number");
    expect(wrong.output()).not.toContain("geheim");
    const taken = run(program, { ...env, METRICS_PORT: `${stack.corePort}` });
    expect(await taken.ended).toBe(1);
    expect(taken.output()).toContain("EADDRINUSE");
  },
);

it("the core ends when its port for browsers is taken, though another is open already", async () => {
  const { ended, output } = run(CORE, {
    ...(await own[CORE]?.()),
    DASHBOARD_URL: "http://localhost:4180",
    DASHBOARD_PORT: `${stack.corePort}`,
  });
  expect(await ended).toBe(1);
  expect(output()).toContain('"message":"core listens"');
  expect(output()).toContain("EADDRINUSE");
});
