import { ActivityService, AttemptOutcome, Platform } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { unique } from "../../../test/harness/builders.ts";
import { useServices } from "../../../test/harness/services.ts";
import { DATA_TABLES } from "../account-deletion/account-deletion-store.ts";
import { purgeDeletedAccounts } from "../account-deletion/account-purge.ts";
import { ErrorCode } from "../common/errors.ts";
import { accountNoOf } from "../common/ids.ts";
import { countAttempts } from "../delivery-stat/delivery-stat.ts";

const services = useServices();

const profile = () => ({
  externalId: unique("account"),
  username: unique("User"),
  displayName: "Ünï 😀 \0",
});
const notFound = { code: ErrorCode.AccountNotFound };

describe("an account", () => {
  it("is unverified when new, and keeps its id and state when put again", async () => {
    const { accounts } = services;
    const first = profile();
    const { account } = await accounts.putAccount(first);
    expect(account).toMatchObject({ ...first, verified: false, blocked: false });
    const accountId = account?.id ?? "";
    await accounts.verifyAccount({ accountId });
    const renamed = { ...first, username: unique("renamed"), displayName: "New" };
    const { account: again } = await accounts.putAccount(renamed);
    expect(again).toEqual({ ...account, ...renamed, verified: true });
    expect((await accounts.getAccount({ accountId })).account).toEqual(again);
  });

  it("cannot have another account's username in any case", async () => {
    const { accounts } = services;
    const one = profile();
    const other = profile();
    await accounts.putAccount(one);
    await accounts.putAccount(other);
    const taken = { code: ErrorCode.UsernameTaken };
    const username = one.username.toLowerCase();
    await expect(accounts.putAccount({ ...other, username })).rejects.toMatchObject(taken);
    await expect(accounts.putAccount({ ...profile(), username })).rejects.toMatchObject(taken);
    expect((await accounts.putAccount({ ...one, username })).account?.username).toBe(username);
  });

  it("is created once when 10 callers put it at the same time", async () => {
    const same = profile();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => services.accounts.putAccount(same)),
    );
    expect(new Set(answers.map((answer) => answer.account?.id)).size).toBe(1);
  });

  it("can be verified and blocked twice, and then unblocked", async () => {
    const { accounts } = services;
    const accountId = await services.createAccount();
    for (const _ of [1, 2]) {
      expect((await accounts.verifyAccount({ accountId })).account?.verified).toBe(true);
      expect((await accounts.blockAccount({ accountId })).account?.blocked).toBe(true);
    }
    const { account } = await accounts.unblockAccount({ accountId });
    expect(account).toMatchObject({ verified: true, blocked: false });
  });
});

const donatedAt = timestampFromMs(0);
const MONEY = { amountCents: 500n, currency: "eur" };

/** Stores a row of the account in every table that has data of accounts. */
async function fill(accountId: string) {
  const { donations, platformEvents } = services;
  const key = { accountId, externalId: "donation" };
  const run = await services.sendTest(accountId, await services.createEndpoint(accountId));
  await services.record(run, AttemptOutcome.TIMEOUT);
  await countAttempts(services.pool);
  await donations.createDonation({ ...key, ...MONEY, donatedAt });
  await donations.payDonation(key);
  await donations.refundDonation({ ...key, refundExternalId: "refund", amountCents: 1n });
  await donations.openDispute({ ...key, disputeExternalId: "dispute" });
  const month = { ...key, externalId: "month", subscriptionExternalId: "subscription" };
  await donations.recordContribution({ ...month, ...MONEY, contributedAt: donatedAt });
  await platformEvents.recordPlatformEvent({
    ...{ accountId, externalId: "follow", platform: Platform.LIVE_PLATFORM_1 },
    kind: { case: "follow", value: {} },
  });
  await services.apiKeys.createApiKey({ accountId, name: "secret plans", validityDays: 30 });
  const { url } = await services.sessions.createSessionLink({ accountId, scopes: [1] });
  await services.sessions.exchangeCode({ code: new URL(url).hash.slice("#code=".length) });
}

const rowsOf = (table: string, accountId: string) =>
  services.database.value<number>(`SELECT COUNT(*) FROM ${table} WHERE account_no = ?`, [
    accountNoOf(accountId),
  ]);

it("an id that only begins like an account's is unknown", async () => {
  const accountId = `${(await services.createAccount()).slice(0, 10)}00000`;
  const calls = [
    services.accounts.getAccount({ accountId }),
    services.client(ActivityService).listActivities({ accountId }),
    services.donations.payDonation({ accountId, externalId: "donation" }),
  ];
  await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(notFound)));
});

describe("a deleted account", () => {
  it("loses all its data, its profile and the names of its keys", async () => {
    const accountId = await services.createAccount();
    const neighbour = await services.createAccount();
    await fill(accountId);
    await fill(neighbour);
    for (const table of DATA_TABLES) expect(await rowsOf(table, accountId)).toBeGreaterThan(0);
    await services.accounts.deleteAccount({ accountId });
    for (const table of DATA_TABLES) {
      expect(await rowsOf(table, accountId)).toBe(0);
      expect(await rowsOf(table, neighbour)).toBeGreaterThan(0);
    }
    const [account] = await services.database.query("SELECT * FROM account WHERE id = ?", [
      accountId,
    ]);
    expect(account).toMatchObject({ external_id: null, username: null, display_name: "" });
    expect(account).toMatchObject({
      deleted_at: expect.any(Number),
      purged_at: expect.any(Number),
    });
    expect(await rowsOf("api_key", accountId)).toBe(1);
    const keys = await services.database.query("SELECT 1 FROM api_key WHERE name = ''");
    expect(keys).toHaveLength(1);
  });

  it("is unknown to every call, and its names are free", async () => {
    const { accounts, donations, apiKeys } = services;
    const names = profile();
    const { account } = await accounts.putAccount(names);
    const accountId = account?.id ?? "";
    await accounts.deleteAccount({ accountId });
    await accounts.deleteAccount({ accountId });
    const create = { accountId, externalId: "a", ...MONEY, donatedAt };
    const key = { accountId, name: "key", validityDays: 30 };
    await expect(accounts.getAccount({ accountId })).rejects.toMatchObject(notFound);
    await expect(accounts.verifyAccount({ accountId })).rejects.toMatchObject(notFound);
    await expect(donations.createDonation(create)).rejects.toMatchObject(notFound);
    await expect(apiKeys.createApiKey(key)).rejects.toMatchObject(notFound);
    await expect(apiKeys.listApiKeys({ accountId })).rejects.toMatchObject(notFound);
    expect((await accounts.putAccount(names)).account?.id).not.toBe(accountId);
  });

  it("must have existed: deleting an unknown one fails", async () => {
    await expect(
      services.accounts.deleteAccount({ accountId: "0".repeat(15) }),
    ).rejects.toMatchObject(notFound);
  });

  it("loses more rows than one statement deletes, also after an interrupted deletion", async () => {
    const accountId = await services.createAccount();
    const batches = Array.from({ length: 11 }, (_, batch) =>
      Array.from({ length: 1000 }, (_, row) => ({
        externalId: `${batch} ${row}`,
        ...MONEY,
        donatedAt,
      })),
    );
    await services.importRows(accountId, Platform.CSV, ...batches);
    await services.database.query("UPDATE account SET deleted_at = 1 WHERE id = ?", [accountId]);
    await purgeDeletedAccounts(services.pool);
    expect(await rowsOf("donation", accountId)).toBe(0);
    expect(await rowsOf("activity", accountId)).toBe(0);
    const unfinished = "SELECT 1 FROM account WHERE deleted_at IS NOT NULL AND purged_at IS NULL";
    expect(await services.database.query(unfinished)).toEqual([]);
  });

  it("is deleted from every table that holds accounts' rows", async () => {
    const tables = await services.database.queryShards<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns
       WHERE table_schema = DATABASE() AND column_name = 'account_no'`,
    );
    const names = tables
      .map(({ name }) => name)
      .filter((name) => !["account", "api_key"].includes(name));
    expect([...new Set(names)].sort()).toEqual([...DATA_TABLES].sort());
  });
});
