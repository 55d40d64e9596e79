import {
  DonationService,
  DonationStatus,
  type DonationService as Donations,
} from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Client, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { unique } from "../../../test/harness/builders.ts";
import { openDatabaseProxy } from "../../../test/harness/database-proxy.ts";
import { useServices } from "../../../test/harness/services.ts";
import { useStarted } from "../../../test/harness/use-started.ts";
import { ErrorCode } from "../common/errors.ts";
import { requiredMicros } from "../common/timestamps.ts";
import { createPackets, type Packets } from "../database/packet.ts";
import { inTransaction } from "../database/transaction.ts";
import { createDonationService } from "../donation/donation-service.ts";
import { Access } from "../rpc/access.ts";
import { createLocalTransport } from "../rpc/local-transport.ts";
import { register } from "../rpc/registered-service.ts";
import { createWriter } from "./writer.ts";

const DEADLINE_MS = 30_000;
const at = timestampFromMs(1_600_000_000_000);

const services = useServices();
const proxy = useStarted(() => openDatabaseProxy(services.database.url));
let connections: Packets[];
/** A client whose writes use their own connections. The proxy counts their packets. */
let donations: Client<typeof Donations>;
let accountId: string;
beforeAll(() => {
  connections = [
    createPackets(proxy.url, 1, DEADLINE_MS),
    createPackets(proxy.url, 4, DEADLINE_MS),
    createPackets(proxy.url, 2, DEADLINE_MS),
  ];
  const [together, alone, leftOut] = connections as [Packets, Packets, Packets];
  const writer = createWriter({ together, alone, leftOut }, services.outbox, services.feedChanges);
  const service = createDonationService(writer);
  donations = createClient(
    DonationService,
    createLocalTransport([register(DonationService, service, { access: Access.Open })], []),
  );
});
afterAll(() => Promise.all(connections.map((packets) => packets.close())));
beforeEach(async () => {
  accountId = await services.createAccount();
});

const create = (of: string, externalId: string, fields: { donorName?: string } = {}) =>
  donations.createDonation({
    ...{ accountId: of, externalId, amountCents: 500n, currency: "eur", donatedAt: at },
    ...fields,
  });
const pay = (of: string, externalId: string) =>
  donations.payDonation({ accountId: of, externalId });

/** Counts the packets of `work`, once connections are open. */
async function packetsOf(work: () => Promise<unknown>): Promise<number> {
  await create(accountId, unique("open"));
  const before = proxy.commands();
  await work();
  return proxy.commands() - before;
}

it("commits waiting writes together, of one account or of many", async () => {
  const many = await Promise.all(Array.from({ length: 64 }, () => services.createAccount()));
  const ids = Array.from({ length: 64 }, () => unique("donation"));
  expect(await packetsOf(() => Promise.all(ids.map((id) => create(accountId, id))))).toBe(2);
  expect(await packetsOf(() => Promise.all(many.map((of) => create(of, "one"))))).toBe(2);
  // The donations are paid in the order of the calls, each at its own time.
  await Promise.all(ids.map((id) => pay(accountId, id)));
  const paid = await Promise.all(ids.map((id) => pay(accountId, id)));
  const times = paid.map(({ donation }) =>
    Number(requiredMicros(donation?.recordedAt, "recorded_at")),
  );
  expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
  const feed = await services.readFeed(accountId);
  expect(feed.map((row) => row.recorded_at)).toEqual(times);
});

it("decides a write that depends on a waiting one after that one is stored", async () => {
  const id = unique("donation");
  const [created, paid, again] = await Promise.all([
    create(accountId, id),
    pay(accountId, id),
    create(accountId, id),
  ]);
  expect(created.donation?.status).toBe(DonationStatus.CREATED);
  expect(paid.donation?.status).toBe(DonationStatus.PAID);
  expect(again.donation).toEqual(paid.donation);
});

it("refuses some of the writes that wait together, and stores the others", async () => {
  const ids = ["a", "b", "c"].map((name) => unique(name));
  await Promise.all(ids.map((id) => create(accountId, id)));
  const outcomes = await Promise.allSettled([
    pay(accountId, ids[0] ?? ""),
    pay(accountId, "unknown"),
    pay(accountId, ids[1] ?? ""),
    pay("0".repeat(15), "of nobody"),
    pay("no id", "of nobody"),
    pay(accountId, ids[2] ?? ""),
  ]);
  const results = outcomes.map((outcome) =>
    outcome.status === "fulfilled" ? "paid" : outcome.reason.code,
  );
  const { DonationNotFound, AccountNotFound } = ErrorCode;
  expect(results).toEqual([
    "paid",
    DonationNotFound,
    "paid",
    AccountNotFound,
    AccountNotFound,
    "paid",
  ]);
  expect(await services.readFeed(accountId)).toHaveLength(3);
});

it("stores the others when the database fails on one", async () => {
  await services.database.queryShards(
    `CREATE TRIGGER no_poison BEFORE INSERT ON donation FOR EACH ROW
     IF NEW.donor_name = 'poison' THEN SIGNAL SQLSTATE '45000'; END IF`,
  );
  const other = await services.createAccount();
  const outcomes = await Promise.allSettled([
    create(accountId, "first"),
    create(accountId, "before"),
    create(accountId, "it", { donorName: "poison" }),
    create(accountId, "behind"),
    create(other, "elsewhere"),
  ]);
  await services.database.queryShards("DROP TRIGGER no_poison");
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled"],
  ]);
  const stored = await services.database.column<string>(
    `SELECT CONVERT(external_id USING utf8mb4) AS id FROM donation
     WHERE account_no IN (SELECT account_no FROM account WHERE id IN (?)) ORDER BY id`,
    [[accountId, other]],
  );
  expect(stored).toEqual(["before", "behind", "elsewhere", "first"]);
});

it("twelve waiting writes of a locked account do not delay another account's test event", async () => {
  const endpointId = await services.createEndpoint(accountId);
  const locked = await services.createAccount();
  const store = (of: string, externalId: string) =>
    services.donations.createDonation({
      ...{ accountId: of, externalId, amountCents: 500n, currency: "eur", donatedAt: at },
    });
  const externalIds = Array.from({ length: 12 }, (_, at) => `waits-é💜-${at}`);
  const { waiting } = await inTransaction(services.pool, async (tx) => {
    await tx.query("SELECT 1 FROM account WHERE id = ? FOR UPDATE", [locked]);
    const begunMs = performance.now();
    const waiting = externalIds.map((externalId) => store(locked, externalId));
    // This write ends after each of the twelve has found the account locked.
    await store(accountId, "after");
    const tests = Array.from({ length: 3 }, () =>
      services.endpoints.sendTest({ accountId, endpointId }),
    );
    expect(await Promise.all(tests)).toHaveLength(3);
    // A write that waited for the locked row would end only after eight seconds.
    expect(performance.now() - begunMs).toBeLessThan(8_000);
    return { waiting };
  });
  const stored = await Promise.all(waiting);
  expect(stored.map(({ donation }) => donation?.externalId)).toEqual(externalIds);
});
