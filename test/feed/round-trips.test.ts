import { ActivityService, SessionService } from "@activity/proto";
import type { DescMethod } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { startDashboard } from "../dashboard/harness-dashboard.ts";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { openDatabaseProxy } from "../harness/database-proxy.ts";
import type { TestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";

const proxy = useStarted(() => openDatabaseProxy(inject("databaseUrl")));
const dashboard = useStarted(() => startDashboard({}, proxy.url));
let stack: TestStack;
let apiKey: string;
let accountId: string;
beforeAll(async () => {
  ({ stack } = dashboard);
  ({ apiKey, accountId } = await createReader(stack));
  await createPlatformEvent(stack, accountId);
});

/** Returns the fewest round trips of several calls of `work`. */
const countCommands = async (
  work: () => Promise<unknown>,
  prepare: () => Promise<unknown> = async () => {},
) => (await proxy.leastCost(work, prepare))[0];

describe("ARCHITECTURE.md: round trips to the database for a single request", () => {
  it.each([
    ["GET", "/api/v1/activity"],
    ["GET", "/api/v1/activity?type=follow&order=asc"],
    ["HEAD", "/api/v1/activity"],
    ["GET", "/api/v1/me"],
    ["OPTIONS", "/api/v1/activity"],
    ["GET", "/api/v1/activity?limit=0"],
    ["POST", "/api/v1/me"],
    ["GET", "/nothing"],
  ])("%s %s: 1, with a key and without", async (method, path) => {
    for (const request of [{ method, apiKey }, { method }]) {
      const send = () => stack.http(path, request);
      // After two requests the statements are prepared and the page is cached.
      for (let time = 0; time < 2; time++) await send();
      expect(await countCommands(send)).toBe(1);
    }
  });

  it("a page whose feed has changed: 2", async () => {
    const read = () => stack.http("/api/v1/activity", { apiKey });
    for (let time = 0; time < 2; time++) await read();
    expect(await countCommands(read, () => createPlatformEvent(stack, accountId))).toBe(2);
    expect(await countCommands(read)).toBe(1);
  });

  it.each<{ method: DescMethod; roundTrips: number }>([
    { method: SessionService.method.getSession, roundTrips: 1 },
    { method: ActivityService.method.listActivities, roundTrips: 2 },
  ])(
    "a browser's $method.name: $roundTrips, with its session and account. ADR 0038",
    async (row) => {
      const browser = await dashboard.signIn(accountId);
      const call = async () => expect((await browser.call(row.method)).status).toBe(200);
      expect(await countCommands(call)).toBe(row.roundTrips);
    },
  );
});

describe("ARCHITECTURE.md: round trips under load", () => {
  it("share their authentication: 60 changed pages at once cost fewer than 90, unchanged ones fewer than 30", async () => {
    const readers = await Promise.all(Array.from({ length: 60 }, () => createReader(stack)));
    const readAll = async () => {
      const answers = await Promise.all(
        readers.map(({ apiKey: key }) => stack.http("/api/v1/activity", { apiKey: key })),
      );
      expect(answers.every(({ status }) => status === 200)).toBe(true);
    };
    const changeAll = () =>
      Promise.all(readers.map((reader) => createPlatformEvent(stack, reader.accountId)));
    await changeAll();
    for (let time = 0; time < 2; time++) await readAll();
    expect(await countCommands(readAll, changeAll)).toBeLessThan(60 + 30);
    expect(await countCommands(readAll)).toBeLessThan(30);
  });

  it("share the authentication of one key: 60 requests with it at once cost fewer than 30", async () => {
    const { apiKey } = await createReader(stack);
    for (const [key, status] of [
      [`act_live_${"0".repeat(64)}`, 401],
      [apiKey, 200],
    ] as const) {
      const before = proxy.commands();
      const answers = await Promise.all(
        Array.from({ length: 60 }, () => stack.http("/api/v1/me", { apiKey: key })),
      );
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
      expect(proxy.commands() - before).toBeLessThan(30);
    }
    const { headers } = await stack.http("/api/v1/me", { apiKey });
    expect(headers.ratelimit).toMatch(/^"account";r=59;/);
  });

  it("are none for a client over its limit", async () => {
    const headers = { "x-forwarded-for": "203.0.113.9" };
    const send = async () => (await stack.http("/nothing", { headers })).status;
    const statuses = await Promise.all(Array.from({ length: 301 }, send));
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    expect(await send()).toBe(429);
    const refused = () => Promise.all(Array.from({ length: 20 }, send));
    expect(await countCommands(refused)).toBe(0);
    expect(new Set(await refused())).toEqual(new Set([429]));
  });
});
