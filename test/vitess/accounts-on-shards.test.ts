import { migrate } from "@activity/server";
import { describe, expect, it } from "vitest";
import { unique } from "../harness/builders.ts";
import { createTestDatabase } from "../harness/database.ts";
import { useServices } from "../harness/services.ts";

/** So many that some of them are on different shards. */
const ACCOUNTS = 12;

const services = useServices();

it("is migrated once, however many instances start, each table in its keyspace, ADR 0048", async () => {
  const database = await createTestDatabase(undefined, { migrated: false });
  try {
    const started = await Promise.all([1, 2, 3].map(() => migrate(database.url)));
    expect(started).toEqual([[], [], []]);
    const marks = await database.query<{ version: number }>("SELECT version FROM schema_migration");
    expect(marks.length).toBeGreaterThanOrEqual(21);
    const [installation] = await database.query<{ id: string }>("SELECT id FROM installation");
    expect(installation?.id).toMatch(/^[0-9a-f]{12}$/);
    const chosen = `${database.url.replace(/\/$/, "")}/activity`;
    await expect(migrate(chosen)).rejects.toThrow("it must end behind the port");
  } finally {
    await database.drop();
  }
});

it("finds each account on its shard. ADR 0048", async () => {
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, services.createAccount));
  for (const accountId of accounts) {
    await services.apiKeys.createApiKey({ accountId, name: "key", validityDays: 30 });
    expect((await services.apiKeys.listApiKeys({ accountId })).apiKeys).toHaveLength(1);
    expect((await services.accounts.getAccount({ accountId })).account?.id).toBe(accountId);
  }
});

describe("a username, ADR 0048", () => {
  const put = (externalId: string, username: string) =>
    services.accounts.putAccount({ externalId, username, displayName: "Streamer" });
  const idOf = async (username: string) =>
    (await services.accounts.getAccount({ username })).account?.id;

  it("stays its account's when only its case changes, and is free when it is given up", async () => {
    const [one, other, name] = [unique("account"), unique("account"), unique("user")];
    const { account } = await put(one, name);
    const shouted = await put(one, name.toUpperCase());
    expect(shouted.account?.username).toBe(name.toUpperCase());
    expect(await idOf(name)).toBe(account?.id);
    expect(await idOf(name.toUpperCase())).toBe(account?.id);
    await expect(put(other, name)).rejects.toMatchObject({ code: "username_taken" });
    await put(one, unique("user"));
    const taken = await put(other, name);
    expect(await idOf(name)).toBe(taken.account?.id);
  });

  it("goes to one of several accounts that ask for it at once", async () => {
    const name = unique("user");
    const asked = Array.from({ length: 8 }, () => put(unique("account"), name));
    const results = await Promise.allSettled(asked);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});
