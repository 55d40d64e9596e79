import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, it } from "vitest";
import { type Run, useServices } from "../../../test/harness/services.ts";

const { UNSPECIFIED, TIMEOUT, RECEIVER_BUSY, NETWORK_ERROR, DELIVERED } = AttemptOutcome;
const HOUR_MICROS = 3_600_000_000;
const IN_A_MINUTE = { retryIn: { seconds: 60n } };

const services = useServices();
let accountId: string;
let run: Run;
beforeEach(async () => {
  await services.database.query("DELETE FROM outbox_entry");
  accountId = await services.createAccount();
  const endpointId = await services.createEndpoint(accountId);
  run = await services.sendTest(accountId, endpointId);
});

const read = () => services.deliveries.getDelivery({ accountId, deliveryId: run.deliveryId });
const load = async (of: Run, attempt: number) =>
  (await services.dispatch.loadAttempt({ run: of, attempt })).step;
/**
 * Attempts 1 to 3, as a workflow knows them. Its worker could not name the third outcome, which only a newer version
 * has.
 */
const before = [TIMEOUT, RECEIVER_BUSY, UNSPECIFIED].map((outcome, place) => ({
  outcome,
  endedAt: timestampFromMs(1_600_000_000_000 + place),
}));

describe("a run whose records the database has lost. ADR 0045", () => {
  it("gets them back in order with the next attempt, and resumes after it", async () => {
    await services.record(run, TIMEOUT, IN_A_MINUTE);
    await services.dispatch.completeRetries({ runs: [run] });
    await services.record(run, TIMEOUT, { ...IN_A_MINUTE, attempt: 4, before });
    const { delivery, attempts } = await read();
    expect(delivery).toMatchObject({ state: DeliveryState.RETRYING, attempts: 4 });
    const listed = attempts.map(({ attempt, outcome, detail }) => [attempt, outcome, !!detail]);
    expect(listed).toEqual([
      [1, TIMEOUT, false],
      [2, RECEIVER_BUSY, true],
      [3, NETWORK_ERROR, true],
      [4, TIMEOUT, false],
    ]);
    // Resumes the run like an orphaned one. The fifth attempt is next.
    expect(await services.store.resumeOverdue(-HOUR_MICROS, 1)).toBe(1);
    const { retries } = await services.dispatch.claimRetries({ limit: 1 });
    expect(retries[0]?.attempts.map(({ outcome }) => outcome)).toEqual(
      attempts.map(({ outcome }) => outcome),
    );
    expect(retries[0]?.attempts[2]?.endedAt).toEqual(before[2]?.endedAt);
  });

  it("can be rescheduled", async () => {
    await services.record(run, TIMEOUT, IN_A_MINUTE);
    const planned = (await read()).delivery?.nextAttemptAt?.seconds ?? 0n;
    const wait = { seconds: 3_600n };
    await services.dispatch.rescheduleAttempt({ run, attempt: 4, wait });
    const next = (await read()).delivery?.nextAttemptAt?.seconds ?? 0n;
    expect(next).toBeGreaterThan(planned + 3_000n);
  });
});

describe("a run that Temporal holds. ADR 0045", () => {
  it("is unknown when its delivery does not exist or is at an earlier run", async () => {
    const unknown = { case: "ended", value: { unknown: true } };
    expect(await load({ ...run, deliveryId: "nobodydelivery0" }, 2)).toMatchObject(unknown);
    const elsewhere = { ...run, accountNo: 1n, deliveryId: "nobodydelivery0" };
    expect(await load(elsewhere, 2)).toMatchObject(unknown);
    expect(await load({ ...run, run: 2 }, 2)).toMatchObject(unknown);
  });

  it("is not unknown when it has ended or its account was deleted", async () => {
    const ended = { case: "ended", value: { unknown: false } };
    await services.record(run, DELIVERED);
    expect(await load(run, 2)).toMatchObject(ended);
    await services.accounts.deleteAccount({ accountId });
    expect(await load(run, 2)).toMatchObject(ended);
  });
});
