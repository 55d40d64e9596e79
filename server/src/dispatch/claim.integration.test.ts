import { AttemptOutcome } from "@activity/proto";
import { PROCESS_TIMING } from "@activity/runtime/timing";
import { beforeEach, describe, expect, it } from "vitest";
import { writePending } from "../../../test/harness/backlog.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { type Run, useServices } from "../../../test/harness/services.ts";
import { accountNoOf } from "../common/ids.ts";
import { DatabaseTimeoutError } from "../database/deadline.ts";
import { NOW_MICROS } from "../database/now.ts";
import { inTransaction } from "../database/transaction.ts";
import { createClaims } from "./claim.ts";
import { createOutbox } from "./outbox.ts";

const ENDPOINT_LIMIT = 64;
/** Entries that a claim reads at once. */
const PAGE = 256;

type Receiver = { readonly accountId: string; readonly endpointId: string };

const services = useServices();
let busy: Receiver;
beforeEach(async () => {
  await services.database.query("DELETE FROM outbox_entry");
  await services.database.query("DELETE FROM delivery");
  busy = await createReceiver();
});

async function createReceiver(owner?: string): Promise<Receiver> {
  const accountId = owner ?? (await services.createAccount());
  return { accountId, endpointId: await services.createEndpoint(accountId) };
}
const addPending = ({ accountId, endpointId }: Receiver, count: number) =>
  writePending(services.database, { accountId, endpointIds: [endpointId], count });
/** Adds entries that another dispatcher has leased for longer than a test takes. */
const addLeased = ({ accountId, endpointId }: Receiver, count: number) =>
  writePending(
    services.database,
    { accountId, endpointIds: [endpointId], count },
    { leasedForSeconds: 60 },
  );
const sendTest = ({ accountId, endpointId } = busy): Promise<Run> =>
  services.sendTest(accountId, endpointId);
let [nowMs, stepMs] = [0, 0];
/** Creates an outbox whose clock steps by `stepMs` at each reading. */
function createSteppingOutbox() {
  const readMs = () => {
    nowMs += stepMs;
    return nowMs;
  };
  return createOutbox({ ...PROCESS_TIMING, nowMs: readMs });
}
/** Claims, and checks that the claim gets exactly these entries. */
async function expectClaimed(claims: ReturnType<typeof createClaims>, ids: readonly string[]) {
  const { entries } = await claims.attempts(8, ENDPOINT_LIMIT);
  expect(entries.map(({ deliveryId }) => deliveryId)).toEqual(ids);
}

describe("a claim, §6.4, ADR 0028", () => {
  it("skips an entry that another transaction leased while the claim waited for the lock", async () => {
    const { deliveryId } = await sendTest();
    const entry = "WHERE delivery_id = ?";
    // Returns the claim in an object, because `inTransaction` would await a bare promise. This claim waits for the
    // transaction.
    const { claim } = await inTransaction(services.pool, async (tx) => {
      await tx.query(`SELECT 1 FROM outbox_entry FORCE INDEX (PRIMARY) ${entry} FOR UPDATE`, [
        deliveryId,
      ]);
      const waiting = services.claim();
      await expect.poll(() => services.database.isRunning("UPDATE outbox_entry")).toBe(true);
      const lease = `UPDATE outbox_entry SET leased_until = ${NOW_MICROS} + 14000000 ${entry}`;
      await tx.query(lease, [deliveryId]);
      return { claim: waiting };
    });
    expect(await claim).toEqual([]);
  });
});

describe("a claim that took longer than two seconds, ADR 0028", () => {
  beforeEach(() => {
    stepMs = 2_001;
  });

  it("fails, and the next one gets its entries", async () => {
    const ids = await addPending(busy, 1);
    const outbox = createSteppingOutbox();
    const claims = createClaims({ ...services, outbox });
    await expect(claims.attempts(8, ENDPOINT_LIMIT)).rejects.toThrow(DatabaseTimeoutError);
    expect(outbox.unheard.size).toBe(1);
    stepMs = 0;
    await expectClaimed(claims, ids);
  });

  it("stops no other if its leases cannot be ended, because their shard is away. ADR 0048", async () => {
    await addPending(busy, 1);
    const error = new Error("target: activity.80-.primary: primary is not serving");
    const shardAway = Object.assign(error, { errno: 1105, sqlState: "HY000" });
    let refused = 0;
    const releaseEntries = () => {
      refused += 1;
      nowMs += 300;
      return Promise.reject(shardAway);
    };
    const [store, outbox] = [{ ...services.store, releaseEntries }, createSteppingOutbox()];
    const claims = createClaims({ ...services, store, outbox });
    await expect(claims.attempts(8, ENDPOINT_LIMIT)).rejects.toThrow(DatabaseTimeoutError);
    stepMs = 0;
    const ofMany = Array.from({ length: 64 }, (_, accountNo) => ({
      accountNo,
      deliveryId: "away",
    }));
    outbox.unheard.set("of many accounts", ofMany);
    const ids = await addPending(await createReceiver(), 1);
    await expectClaimed(claims, ids);
    // After a second, the search no longer tries to end leases of the shard that is away.
    expect(refused).toBeLessThanOrEqual(5);
  });
});

it("a claim leases the entries of other shards while one refuses, ADR 0048", async () => {
  const other = await createReceiver();
  const full = Number(accountNoOf(busy.accountId));
  const error = new Error("target: activity.-80.primary: vttablet: The table is full (errno 1114)");
  const refusal = Object.assign(error, { code: "ER_RECORD_FILE_FULL", errno: 1114 });
  const store: typeof services.store = {
    ...services.store,
    leaseEntries: (task, keys, leaseId) =>
      keys.some(({ accountNo }) => accountNo === full)
        ? Promise.reject(refusal)
        : services.store.leaseEntries(task, keys, leaseId),
  };
  const claims = createClaims({ ...services, store });
  await addPending(busy, 1);
  await expect(claims.attempts(8, ENDPOINT_LIMIT)).rejects.toThrow("full");
  const ids = await addPending(other, 1);
  await expectClaimed(claims, ids);
});

describe("a claim past endpoints at their limit, ADR 0028", () => {
  let looked: string[];
  beforeEach(() => {
    stepMs = 0;
    looked = [];
  });
  /** Creates a claim of at most one entry of each endpoint. `looked` gets the endpoint after which each page begins. */
  function createNotedClaims() {
    const store: typeof services.store = {
      ...services.store,
      listClaimable(task, position, ...rest) {
        looked.push(position.endpointId);
        return services.store.listClaimable(task, position, ...rest);
      },
    };
    const claims = createClaims({ ...services, store, outbox: createSteppingOutbox() });
    return async () => {
      looked = [];
      const { entries, ...rest } = await claims.attempts(64, 1);
      return { ids: entries.map(({ deliveryId }) => deliveryId), ...rest };
    };
  }
  async function createThrottled(): Promise<Receiver> {
    const receiver = await createReceiver();
    await addLeased(receiver, 1);
    await addPending(receiver, PAGE);
    return receiver;
  }

  it("stops after eight pages and leases what it found, and the next claim continues there", async () => {
    const first = await addPending(busy, 1);
    const throttled: Receiver[] = [];
    while (throttled.length < 10) throttled.push(await createThrottled());
    const last = await addPending(await createReceiver(), 1);
    const claim = createNotedClaims();
    const named = (count: number) =>
      new Set(throttled.slice(0, count).map(({ endpointId }) => endpointId));
    expect(await claim()).toEqual({ ids: first, hasMore: true, throttled: named(8) });
    expect(looked).toHaveLength(8);
    expect(await claim()).toEqual({ ids: last, hasMore: true, throttled: named(10) });
    expect(looked).toHaveLength(8);
    expect(looked[0]).toBe(throttled[7]?.endpointId);
    expect(await claim()).toEqual({ ids: [], hasMore: false, throttled: named(10) });
  });

  it("that cuts a queue at the end of a page says that there are more entries", async () => {
    const full = await createReceiver();
    await addLeased(full, 1);
    await addPending(full, PAGE - 6);
    const cut = await createReceiver();
    await addPending(cut, 10);
    const outbox = createOutbox(PROCESS_TIMING);
    // The limit is 20 attempts in flight. `full` has reached it, `cut` has not.
    await addLeased(full, 19);
    const { entries, hasMore } = await createClaims({ ...services, outbox }).attempts(64, 20);
    expect(entries).toHaveLength(6);
    expect(hasMore).toBe(true);
  });

  it("ends after ten seconds without entries, and the next claim continues there", async () => {
    const { endpointId } = await createThrottled();
    await createThrottled();
    const ids = await addPending(await createReceiver(), 1);
    const claim = createNotedClaims();
    stepMs = 10_000;
    expect(await claim()).toMatchObject({ ids: [], hasMore: false });
    expect(looked).toEqual([""]);
    stepMs = 0;
    expect(await claim()).toMatchObject({ ids });
    expect(looked[0]).toBe(endpointId);
  });
});

describe("an endpoint, §6.4, ADR 0028", () => {
  it("never has more leased entries than its limit, even when two claimers claim at once", async () => {
    const ids = await addPending(busy, 300);
    const claimers = [0, 1].map(() => createClaims(services));
    const looks = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => claimers[turn % 2]?.attempts(20, ENDPOINT_LIMIT)),
    );
    const claimed = looks.flatMap((look) => look?.entries ?? []);
    expect(claimed.length).toBeGreaterThan(0);
    expect(claimed.length).toBeLessThanOrEqual(ENDPOINT_LIMIT);
    const rest: string[] = [];
    for (let ids = await services.claim(20); ids.length > 0; ids = await services.claim(20)) {
      rest.push(...ids);
    }
    expect(claimed.length + rest.length).toBe(ENDPOINT_LIMIT);
    const all = [...claimed.map(({ deliveryId }) => deliveryId), ...rest];
    expect(all.toSorted()).toEqual(ids.slice(0, ENDPOINT_LIMIT));
  });

  it("gets another entry from a waiting claim as soon as one of its attempts has ended", async () => {
    const ids = await addPending(busy, 6);
    services.outbox.attempts.notify();
    const started = performance.now();
    const call = { limit: 64, endpointLimit: 4, wait: { seconds: 10n } };
    const { attempts } = await services.dispatch.claimAttempts(call);
    expect(attempts).toHaveLength(4);
    const waiting = services.dispatch.claimAttempts(call);
    await services.record(attempts[0]?.run, AttemptOutcome.DELIVERED);
    expect((await waiting).attempts).toMatchObject([{ run: { deliveryId: ids[4] } }]);
    // The next sweep comes after five seconds, so a notification woke the poller.
    expect(performance.now() - started).toBeLessThan(4_000);
  });
});

it("a claim reads no more rows for 10,000 entries than for a few, ADR 0028", async () => {
  const create = () => createClaims({ ...services, outbox: createSteppingOutbox() });
  // The first search of `started` leaves out ended leases. Its search five seconds later includes them.
  const started = create();
  expect((await started.attempts(64, ENDPOINT_LIMIT)).entries).toEqual([]);
  nowMs += 5_000;
  const siblings = [busy];
  while (siblings.length < 10) siblings.push(await createReceiver(busy.accountId));
  const endpointIds = siblings.map(({ endpointId }) => endpointId);
  const many = { accountId: busy.accountId, endpointIds, count: 10_000 };
  await writePending(services.database, many);
  const rowsRead = await rowCounterOf(services.database, "outbox_entry");
  for (const claims of [create(), started]) {
    await services.database.queryShards("UPDATE outbox_entry SET leased_until = NULL");
    const before = await rowsRead();
    expect((await claims.attempts(64, ENDPOINT_LIMIT)).entries).toHaveLength(64);
    // The claim reads one page, the leased entries of its endpoints, and the entries that it leases.
    expect((await rowsRead()) - before).toBeLessThan(PAGE + 6 * 64);
  }
});
