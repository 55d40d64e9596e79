import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { PROCESS_TIMING } from "@activity/runtime/timing";
import { describe, expect, it, vi } from "vitest";
import { writePending } from "../../../test/harness/backlog.ts";
import { useOwner } from "../../../test/harness/owner.ts";
import { firstRunOf, type Run, useServices } from "../../../test/harness/services.ts";
import { accountNoOf } from "../common/ids.ts";
import { inTransaction } from "../database/transaction.ts";
import { createClaims } from "./claim.ts";
import { createOutbox } from "./outbox.ts";
import { type MadeAttempt, recordAttempts } from "./record-attempts.ts";

const { DELIVERED, REJECTED, TIMEOUT, NETWORK_ERROR } = AttemptOutcome;
const A_MINUTE = 60_000_000;
const HEADERS = "server: caddy\n";
const BODY = Buffer.from("thank you");

const services = useServices();
const { own, sendTest, read, stateOf } = useOwner(services, { clears: ["outbox_entry"] });

const sendTests = (count: number) => Promise.all(Array.from({ length: count }, sendTest));
function made({ accountNo, ...run }: Run, changes: Partial<MadeAttempt> = {}): MadeAttempt {
  return {
    ...{ ...run, accountNo: Number(accountNo), attempt: 1, startedAt: 1, durationMicros: 1 },
    ...{ outcome: DELIVERED, statusCode: 200, detail: undefined },
    ...{ responseHeaders: HEADERS, responseBody: BODY },
    ...{ retryInMicros: undefined, before: [], ...changes },
  };
}
const record = (...attempts: MadeAttempt[]) => recordAttempts(services.store, attempts);
/** The result of a call that stored attempts, of which at least one is retried. */
const storedWithRetries = () => ({
  ...{ busy: [], endpointIds: new Set([own.endpointId]), hasStored: true, hasRetries: true },
});
const entryOf = async ({ deliveryId }: Run) =>
  (
    await services.database.query<{ run: number; task: number; isAvailable: number }>(
      `SELECT run, task, lease_id IS NULL AND leased_until IS NULL AS isAvailable
       FROM outbox_entry WHERE delivery_id = ?`,
      [deliveryId],
    )
  )[0];

describe("a batch of attempts, §6.4, ADR 0028", () => {
  it("is recorded with each outcome, and the first record of an attempt stays", async () => {
    const ends = [
      [{ outcome: DELIVERED }, DeliveryState.DELIVERED],
      [{ outcome: REJECTED }, DeliveryState.FAILED],
      [{ outcome: TIMEOUT, retryInMicros: A_MINUTE }, DeliveryState.RETRYING],
    ] as const;
    const runs = await sendTests(100);
    const endOf = (place: number) => ends[place % 3] ?? ends[0];
    const first = runs.map((run, place) => made(run, endOf(place)[0]));
    const again = runs.map((run) => made(run, { outcome: NETWORK_ERROR, responseBody: BODY }));
    for (const attempts of [first, again]) {
      expect(await record(...attempts)).toEqual(storedWithRetries());
    }
    expect(await Promise.all(runs.map(stateOf))).toEqual(runs.map((_, n) => endOf(n)[1]));
    for (const [place, run] of runs.slice(0, 3).entries()) {
      const { delivery, attempts } = await read(run);
      const { outcome } = endOf(place)[0];
      expect(attempts).toMatchObject([{ run: 1, attempt: 1, outcome, responseBody: BODY }]);
      expect(delivery).toMatchObject({ lastOutcome: outcome, attempts: 1 });
    }
  });

  it.each([
    ["that is retried", { outcome: TIMEOUT, retryInMicros: A_MINUTE }],
    ["that ends the run", { outcome: REJECTED }],
  ])(
    "delivers if two records of an attempt are a success and a failure %s, in any order",
    async (_, failure) => {
      const runs = [await sendTest(), await sendTest()];
      const ends = [failure, { outcome: DELIVERED }];
      for (const [place, run] of runs.entries()) {
        for (const end of place === 0 ? ends : ends.toReversed()) await record(made(run, end));
        const { delivery, attempts } = await read(run);
        expect(delivery).toMatchObject({ state: DeliveryState.DELIVERED, attempts: 1 });
        expect(delivery?.nextAttemptAt).toBeUndefined();
        expect(attempts).toMatchObject([{ attempt: 1, outcome: DELIVERED }]);
        expect(await entryOf(run)).toBeUndefined();
      }
    },
  );

  it("returns the error of an attempt that cannot be stored, and the others are recorded", async () => {
    const runs = await sendTests(10);
    const attempts = runs.map((run, n) => made(run, { statusCode: n === 5 ? 70_000 : 200 }));
    expect((await record(...attempts)).failure).toBeInstanceOf(Error);
    const states = runs.map((_, n) => (n === 5 ? DeliveryState.PENDING : DeliveryState.DELIVERED));
    expect(await Promise.all(runs.map(stateOf))).toEqual(states);
  });
});

it("a record waits for no entry of another delivery, in a small outbox either", async () => {
  const backlog = { accountId: own.accountId, endpointIds: [own.endpointId], count: 200 };
  const ids = await writePending(services.database, backlog);
  const accountNo = accountNoOf(own.accountId) ?? 0;
  const deleted = ids.slice(0, 64).map((deliveryId) => ({ accountNo, deliveryId, run: 1 }));
  await services.database.queryShards("ANALYZE TABLE outbox_entry");
  await inTransaction(services.pool, async (tx) => {
    const lock = "SELECT 1 FROM outbox_entry WHERE account_no = ? AND delivery_id = ? FOR UPDATE";
    await tx.query(lock, [accountNo, ids[100]]);
    await services.store.change({ deleted });
  });
  const left = await services.database.query("SELECT 1 FROM outbox_entry");
  expect(left).toHaveLength(136);
});

it("a record locks no other delivery of its account while statistics say that there is none", async () => {
  const backlog = { accountId: own.accountId, endpointIds: [own.endpointId], count: 65 };
  const [locked = "", ...others] = await writePending(services.database, backlog);
  const accountNo = accountNoOf(own.accountId) ?? 0;
  const other = await services.createAccount();
  const ofOther = { accountId: other, endpointIds: [await services.createEndpoint(other)] };
  await writePending(services.database, { ...ofOther, count: 300 });
  for (const sql of [
    "ALTER TABLE delivery STATS_AUTO_RECALC = 0",
    `UPDATE mysql.innodb_table_stats SET n_rows = 0
     WHERE database_name = DATABASE() AND table_name = 'delivery'`,
    "FLUSH TABLES delivery",
  ]) {
    await services.database.queryShards(sql);
  }
  const keys = others.map((deliveryId) => ({ accountNo, deliveryId }));
  const after = { state: 3, attempts: 1, outcome: DELIVERED, retryInMicros: undefined } as const;
  await services.whileLocked(firstRunOf(own.accountId, locked), () =>
    services.store.change({ outcomes: [{ keys, after }] }),
  );
});

it("ADR 0048: attempts of a shard that is away are busy, and the others are recorded", async () => {
  const runs = await sendTests(4);
  const deliveryId = runs[1]?.deliveryId;
  // The error that a vtgate returns.
  const error = new Error("target: activity.80-.primary: primary is not serving");
  const shardAway = Object.assign(error, { errno: 1105, sqlState: "HY000" });
  let [tries, takenMs, nowMs] = [0, 0, performance.now()];
  const store: typeof services.store = {
    ...services.store,
    changeFree(keys, decide) {
      tries += 1;
      nowMs += takenMs;
      return keys.some((key) => key.deliveryId === deliveryId)
        ? Promise.reject(shardAway)
        : services.store.changeFree(keys, decide);
    },
  };
  const attempts = runs.map((run) => made(run));
  const recorded = await recordAttempts(store, attempts);
  expect(recorded).toMatchObject({ busy: [1], failure: undefined });
  tries = 0;
  const alone = await recordAttempts(store, attempts.slice(1, 2));
  expect(alone).toMatchObject({ busy: [0] });
  expect(tries).toBe(1);
  const [PENDING, END] = [DeliveryState.PENDING, DeliveryState.DELIVERED];
  expect(await Promise.all(runs.map(stateOf))).toEqual([END, PENDING, END, END]);
  // Every transaction takes 1.5 seconds: the joint one, then one for each attempt. After two attempts, the others are
  // busy.
  takenMs = 1_500;
  using _clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  const reordered = [0, 2, 1, 3].flatMap((place) => attempts[place] ?? []);
  expect(await recordAttempts(store, reordered)).toMatchObject({ busy: [2, 3] });
});

it.each([
  ["delivered", { outcome: DELIVERED }],
  ["that must be retried", { outcome: TIMEOUT, retryInMicros: A_MINUTE }],
])(
  "§6.4, ADR 0028: the outbox entry of an attempt becomes one to begin its workflow when a first attempt, %s, is recorded after the second",
  async (_, end) => {
    const run = await sendTest();
    const past = { outcome: TIMEOUT, endedAt: 1 };
    await record(
      made(run, { attempt: 2, outcome: TIMEOUT, retryInMicros: A_MINUTE, before: [past] }),
    );
    expect(await services.claim()).toEqual([run.deliveryId]);
    expect(await record(made(run, end))).toEqual(storedWithRetries());
    expect(await entryOf(run)).toEqual({ run: 1, task: 2, isAvailable: 1 });
    expect(await stateOf(run)).toBe(DeliveryState.RETRYING);
  },
);

it("ADR 0028: no other dispatcher makes an attempt again while its delivery is locked", async () => {
  const run = await sendTest();
  let nowMs = 0;
  const outbox = createOutbox({ ...PROCESS_TIMING, nowMs: () => nowMs });
  const claims = createClaims({ ...services, outbox });
  const claim = async () =>
    (await claims.attempts(8, 64)).entries.map(({ deliveryId }) => deliveryId);
  expect(await claim()).toEqual([run.deliveryId]);
  // The first claim leaves out ended leases, as after an outage. A claim 4.5 seconds later includes them.
  nowMs += 4_500;
  const pass = (seconds: number) =>
    services.database.query("UPDATE outbox_entry SET leased_until = leased_until - ?", [
      seconds * 1e6,
    ]);
  await services.whileLocked(run, async () => {
    for (let passed = 0; passed < 90; passed += 10) {
      await pass(10);
      expect((await record(made(run))).busy).toEqual([0]);
      await pass(3);
      expect(await claim()).toEqual([]);
    }
    await pass(14);
    expect(await claim()).toEqual([run.deliveryId]);
  });
  expect((await record(made(run))).busy).toEqual([]);
  expect(await entryOf(run)).toBeUndefined();
});

it.each([
  ["erased", DeliveryState.ERASED],
  ["canceled", DeliveryState.CANCELED],
])(
  "ADR 0028: a run that was %s stays so when its last attempt is recorded again as delivered",
  async (_, state) => {
    const run = await sendTest();
    await record(made(run, { outcome: TIMEOUT, retryInMicros: A_MINUTE }));
    const ended = "UPDATE delivery SET state = ?, next_attempt_at = NULL WHERE id = ?";
    await services.database.query(ended, [state, run.deliveryId]);
    await record(made(run));
    const { delivery, attempts } = await read(run);
    expect(delivery).toMatchObject({ state, lastOutcome: TIMEOUT });
    expect(attempts).toMatchObject([{ outcome: TIMEOUT }]);
  },
);

it("§6.4 a late record stores no text of the answer when the donation was deleted meanwhile", async () => {
  const run = await sendTest();
  const erased = "UPDATE delivery SET state = ? WHERE id = ?";
  await services.database.query(erased, [DeliveryState.ERASED, run.deliveryId]);
  await record(made(run));
  const { delivery, attempts } = await read(run);
  expect(delivery).toMatchObject({ state: DeliveryState.ERASED });
  const noTexts = { responseHeaders: "", responseBody: Buffer.alloc(0) };
  expect(attempts).toMatchObject([{ outcome: DELIVERED, ...noTexts }]);
});
