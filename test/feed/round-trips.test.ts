import { beforeAll, describe, expect, inject, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { openDatabaseProxy } from "../harness/database-proxy.ts";
import { startTestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";

const proxy = useStarted(() => openDatabaseProxy(inject("databaseUrl")));
const stack = useStarted(() => startTestStack({ serverUrl: proxy.url }));
let apiKey: string;
let accountId: string;
beforeAll(async () => {
  ({ apiKey, accountId } = await createReader(stack));
  await createPlatformEvent(stack, accountId);
});

/** Counts the round trips of one request after its statements are prepared and its page is kept. */
async function roundTrips(path: string, method = "GET", key: string | undefined = apiKey) {
  const request = { method, ...(key && { apiKey: key }) };
  for (let time = 0; time < 2; time++) await stack.http(path, request);
  return countCommands(() => stack.http(path, request));
}

/** The lowest of three counts. The core's periodic jobs add commands every 5 and 30 seconds. */
async function countCommands(
  work: () => Promise<unknown>,
  prepare?: () => Promise<unknown>,
): Promise<number> {
  const counts: number[] = [];
  for (let time = 0; time < 3; time++) {
    await prepare?.();
    const before = proxy.commands();
    await work();
    counts.push(proxy.commands() - before);
  }
  return Math.min(...counts);
}

describe("ARCHITECTURE.md: round trips to the database of a request that comes alone", () => {
  it.each([
    ["/api/v1/activity", "GET", 1],
    ["/api/v1/activity?type=follow&order=asc", "GET", 1],
    ["/api/v1/activity", "HEAD", 1],
    ["/api/v1/me", "GET", 1],
    ["/api/v1/activity", "OPTIONS", 1],
    ["/api/v1/activity?limit=0", "GET", 1],
    ["/api/v1/me", "POST", 1],
    ["/nothing", "GET", 1],
  ])("%s %s: %i", async (path, method, expected) => {
    expect(await roundTrips(path, method)).toBe(expected);
  });

  it("a page whose feed has changed: 2", async () => {
    const read = () => stack.http("/api/v1/activity", { apiKey });
    for (let time = 0; time < 2; time++) await read();
    expect(await countCommands(read, () => createPlatformEvent(stack, accountId))).toBe(2);
    expect(await countCommands(read)).toBe(1);
  });

  it("without a key: 1", async () => {
    expect(await roundTrips("/api/v1/me", "GET", "")).toBe(1);
  });
});

describe("ARCHITECTURE.md: round trips under load", () => {
  it("share the admission: 60 pages at once cost 60 and a few admissions, only these when none has changed", async () => {
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

  it("share the admission of one key: 60 requests with it at once cost a few, known or not", async () => {
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

  it("a client over its limit costs none", async () => {
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
