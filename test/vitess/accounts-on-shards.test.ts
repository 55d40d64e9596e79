import { readFile } from "node:fs/promises";
import { migrate } from "@activity/server";
import { describe, expect, it } from "vitest";
import { createPaidDonation, unique } from "../harness/builders.ts";
import { useTestDatabase } from "../harness/database.ts";
import { useServices } from "../harness/services.ts";

const services = useServices();
const empty = useTestDatabase({ migrated: false });

it("ADR 0048: migrates each table in its keyspace once, however many instances start", async () => {
  const started = await Promise.all([1, 2, 3].map(() => migrate(empty.url)));
  expect(started).toEqual([[], [], []]);
  const marks = await empty.query<{ version: number }>("SELECT version FROM schema_migration");
  expect(marks.length).toBeGreaterThanOrEqual(21);
  const [installation] = await empty.query<{ id: string }>("SELECT id FROM installation");
  expect(installation?.id).toMatch(/^[0-9a-f]{12}$/);
  const chosen = `${empty.url.replace(/\/$/, "")}/activity`;
  await expect(migrate(chosen)).rejects.toThrow("End it after the port");
});

/** `account-service.integration.test.ts`, which also runs on Vitess, tests usernames that differ only in case. */
describe("ADR 0048: a username", () => {
  const put = (externalId: string, username: string) =>
    services.accounts.putAccount({ externalId, username, displayName: "Streamer" });

  it("is free once its account takes another one", async () => {
    const [one, name] = [unique("account"), unique("user")];
    await put(one, name);
    await put(one, unique("user"));
    const { account } = await put(unique("account"), name);
    const found = await services.accounts.getAccount({ username: name });
    expect(found.account?.id).toBe(account?.id);
  });

  it("goes to one of several accounts that ask for it at once", async () => {
    const name = unique("user");
    const asked = Array.from({ length: 8 }, () => put(unique("account"), name));
    const results = await Promise.allSettled(asked);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

it("ADR 0048: its query finds a username in `lookup` that no account has", async () => {
  await services.createAccount();
  const adr = "../../docs/adr/0048-on-vitess-an-account-is-on-one-shard.md";
  const text = await readFile(new URL(adr, import.meta.url), "utf8");
  const [, query = ""] = /```sql\n(.*?)```/s.exec(text) ?? [];
  expect(await services.database.query(query)).toEqual([]);
  const username = unique("user");
  const left = "INSERT INTO lookup.account_username (username, keyspace_id) VALUES (?, ?)";
  await services.database.query(left, [username, Buffer.alloc(8)]);
  expect(await services.database.query(query)).toEqual([{ username }]);
});

it("with the flags of docs/scale.md, Vitess's logs have no name from a failed statement", async () => {
  const accountId = await services.createAccount();
  const donorName = unique("donor");
  const donate = () => createPaidDonation(services, accountId, { donorName });
  const refused = services.database.withTrigger("BEFORE INSERT ON donation", donate);
  await expect(refused).rejects.toThrow();
  const log = (await services.database.readVitessLog?.()) ?? "";
  expect(log).toMatch(/vttablet.*convertAndLogError.*errno 1644/);
  expect(log).toMatch(/vtgate.*recordAndAnnotateError.*errno 1644/);
  expect(log).not.toContain(donorName);
});
