import { setTimeout as wait } from "node:timers/promises";
import { AttemptOutcome, DispatchService, DonationService, EndpointService } from "@activity/proto";
import { Permission } from "@activity/server";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { createEndpoint, createReader } from "../harness/builders.ts";
import { type Clients, clientsOf } from "../harness/clients.ts";
import { requestOf } from "../harness/http.ts";
import type { ActivityJson, PageJson } from "../harness/json.ts";
import { firstRunOf, madeAttempt } from "../harness/services.ts";
import { useTestStack, withClientAddress } from "../harness/stack.ts";
import { useFolder } from "../harness/use-started.ts";
import { createBackups } from "./harness-backup.ts";

/** The pause between writes. It keeps them few, because the test repeats all of them at the end. */
const BETWEEN_WRITES_MS = 100;
const DONATED_AT = timestampFromMs(1_700_000_000_000);
const DAY_MS = 86_400_000;

/** The tables of sessions and of session links, each with the column of its hash. */
const SESSIONS = { dashboard_session: "session_hash", session_link: "code_hash" };

const folder = useFolder("backup");
const stack = useTestStack();
let accountId: string;
let apiKey: string;
let credential: string;
/** The database before its loss, and after its restore under another name. */
let lost: string;
let restored: string;
/** The donors before, during and after the dump. */
const written: string[] = [];
/** The moments before the first write and after the dump. */
let startedMs: number;
let dumpedMs: number;
/** The cursor at the end of the feed, before the loss. */
let cursor: string | null;
/** The output of the restore commands. */
let printed: string;
let instance: { readonly gatewayPort: number; readonly corePort: number; stop(): Promise<void> };

/** Makes a paid donation, or repeats its calls. Returns the record id. */
async function donate(client: Clients, externalId: string): Promise<string> {
  const money = { amountCents: 500n, currency: "eur", donatedAt: DONATED_AT };
  const donation = { accountId, externalId, donorName: externalId, ...money };
  await client(DonationService).createDonation(donation);
  const { donation: paid } = await client(DonationService).payDonation(donation);
  return paid?.recordId ?? "";
}

/** Reads the feed to its end, from a cursor or from the start. */
async function readOn(port: number, from?: string | null) {
  const data: ActivityJson[] = [];
  for (let cursor = from; ; ) {
    const path = `/api/v1/activity?order=asc&limit=100${cursor ? `&cursor=${cursor}` : ""}`;
    const page = (await requestOf(port, path, withClientAddress({ apiKey }))).json<PageJson>();
    data.push(...page.data);
    cursor = page.pagination.next_cursor;
    if (!page.pagination.has_more) return { data, cursor };
  }
}

/** Stores an attempt, as if its dispatcher's clock was a day ahead. */
async function recordAhead(): Promise<void> {
  const { endpointId } = await createEndpoint(stack, accountId);
  const { deliveryId } = await stack.client(EndpointService).sendTest({ accountId, endpointId });
  const startedAt = timestampFromMs(Date.now() + DAY_MS);
  const run = firstRunOf(accountId, deliveryId);
  const attempts = [madeAttempt(run, AttemptOutcome.DELIVERED, { startedAt })];
  await stack.client(DispatchService).recordAttempts({ attempts });
}

/** Writes, dumps, writes more. Restores the dump with the commands of docs/operating.md, and starts a product on it. */
beforeAll(async () => {
  startedMs = Date.now();
  ({ accountId, apiKey } = await createReader(stack));
  credential = await stack.credential(...Object.values(Permission));
  lost = new URL(stack.database.url).pathname.slice(1);
  restored = `${lost}_restored`;
  const backups = await createBackups(folder, stack.database);
  for (const [table, hash] of Object.entries(SESSIONS)) {
    await stack.database.query(
      `INSERT INTO ${table} (${hash}, account_no, scopes, expires_at) VALUES (?, ?, 0, ?)`,
      [Buffer.alloc(32), accountNoOf(accountId), Number.MAX_SAFE_INTEGER],
    );
  }
  await recordAhead();

  let writes = true;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let number = 0; writes; number += 1) {
      const externalId = `load-${writer}-${number}`;
      await donate(stack.client, externalId);
      written.push(externalId);
      await wait(BETWEEN_WRITES_MS);
    }
  });
  const writtenAfter = (count: number) => vi.waitUntil(() => written.length > count, 30_000);
  await writtenAfter(0);
  await backups.dump(lost);
  dumpedMs = Date.now();
  await writtenAfter(written.length);
  writes = false;
  await Promise.all(writers);
  await donate(stack.client, "lost");
  ({ cursor } = await readOn(stack.gatewayPort));

  printed = (await backups.restore(restored)).join("\n");
  const url = new URL(stack.database.url);
  url.pathname = `/${restored}`;
  instance = await stack.startInstance({ env: { DATABASE_URL: url.href } });
});
afterAll(async () => {
  await instance?.stop();
  await stack.database.query(`DROP DATABASE IF EXISTS ${restored}`);
});

it("a restore prints a time before the end of its dump, also if a dispatcher's clock is ahead, and ends all sessions", async () => {
  const [, newest = ""] = /newest_in_backup_utc\s+(\d\S+ [\d:.]+)/.exec(printed) ?? [];
  const newestMs = Date.parse(`${newest.replace(" ", "T")}Z`);
  expect(newestMs).toBeGreaterThan(startedMs);
  expect(newestMs).toBeLessThanOrEqual(dumpedMs);
  for (const table of Object.keys(SESSIONS)) {
    expect(await stack.database.query(`SELECT 1 FROM ${lost}.${table}`)).toHaveLength(1);
    expect(await stack.database.query(`SELECT 1 FROM ${restored}.${table}`)).toEqual([]);
  }
});

it("the feed of a restored database is one moment of the lost feed, and gets back what its writers repeat. §4.4", async () => {
  const read = (from?: string | null) => readOn(instance.gatewayPort, from);
  const before = (await read()).data;
  const names = before.map(({ actor }) => actor.name);
  expect(names.length).toBeGreaterThan(0);
  expect(names.length).toBeLessThan(written.length);
  expect(names).not.toContain("lost");
  // The product on the lost database still runs, so it shows the lost feed.
  const all = (await readOn(stack.gatewayPort)).data;
  expect(before).toEqual(all.slice(0, before.length));
  // The old cursor comes after everything that was restored and before everything new.
  expect(await read(cursor)).toEqual({ data: [], cursor });

  const client = clientsOf(`http://127.0.0.1:${instance.corePort}`, credential);
  const ids = new Map(before.map(({ id, actor }) => [actor.name, id]));
  const everything = [...written, "lost"];
  const recordIds = await Promise.all(everything.map((donor) => donate(client, donor)));
  for (const [place, recordId] of recordIds.entries()) {
    const known = ids.get(everything[place] ?? "");
    if (known !== undefined) expect(`don_${recordId}`).toBe(known);
  }
  const after = (await read()).data.map(({ actor }) => actor.name);
  expect(after.toSorted()).toEqual(everything.toSorted());
  const behind = (await read(cursor)).data.map(({ actor }) => actor.name);
  expect(behind).toEqual(after.slice(names.length));
  expect(behind).toContain("lost");
});
