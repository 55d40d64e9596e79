import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { createPaidDonation } from "../../../test/harness/builders.ts";
import { useOwner } from "../../../test/harness/owner.ts";
import { EVER, firstRunOf, type Run, useServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../common/errors.ts";

const SAID = "a donor's very own words";
const ANSWERED = "the receiver's very own words";
const { DELIVERED, REJECTED } = AttemptOutcome;

const services = useServices();
const { own, read } = useOwner(services, { clears: ["outbox_entry"] });
let donation: { accountId: string; externalId: string };

/** Pays a donation, whose event goes to every endpoint. Returns the first run of each delivery, newest first. */
async function pay(): Promise<Run[]> {
  const { externalId } = await createPaidDonation(services, own.accountId, { message: SAID });
  donation = { accountId: own.accountId, externalId };
  const { deliveries } = await services.deliveries.listDeliveries({ accountId: own.accountId });
  return deliveries.map(({ id }) => firstRunOf(own.accountId, id));
}
async function payOnce(): Promise<Run> {
  const [run] = await pay();
  if (run === undefined) throw new Error("there is no delivery");
  return run;
}
const record = (run: Run, outcome: AttemptOutcome) =>
  services.record(run, outcome, {
    responseHeaders: `server: ${ANSWERED}\n`,
    responseBody: Buffer.from(ANSWERED),
  });
const erase = () => services.donations.deleteDonation(donation);
const rowsWith = async (table: string, column: string, text: string) =>
  (await services.database.query(`SELECT 1 FROM ${table} WHERE INSTR(${column}, ?)`, [text]))
    .length;
const rowsLeft = async () => [
  await rowsWith("webhook_event", "payload", SAID),
  await rowsWith("delivery_attempt", "CONCAT(response_headers, response_body)", ANSWERED),
  (await services.database.query("SELECT 1 FROM outbox_entry")).length,
];

describe("the events of a deleted donation, §6.4, ADR 0028", () => {
  it("wait for a locked delivery, and delay no other account's writes", async () => {
    const run = await payOnce();
    const { erasing } = await services.whileLocked(run, async () => {
      const erasing = erase();
      const isWaiting = () => services.database.isRunning("UPDATE webhook_event ");
      await expect.poll(isWaiting).toBe(true);
      await createPaidDonation(services, await services.createAccount(), {});
      expect(await isWaiting()).toBe(true);
      return { erasing };
    });
    await erasing;
    expect((await read(run)).delivery?.state).toBe(DeliveryState.ERASED);
  });

  it("wait for no delivery of another donation, however few the account has", async () => {
    const other = await payOnce();
    const otherDonation = donation;
    const run = await payOnce();
    await services.whileLocked(other, erase);
    expect((await read(run)).delivery?.state).toBe(DeliveryState.ERASED);
    expect((await read(other)).delivery?.state).toBe(DeliveryState.PENDING);
    await services.donations.deleteDonation(otherDonation);
  });

  it("stay delivered, without the donor's and the receiver's words", async () => {
    const run = await payOnce();
    await record(run, DELIVERED);
    expect(await rowsLeft()).toEqual([1, 1, 0]);
    await erase();
    expect(await rowsLeft()).toEqual([0, 0, 0]);
    const { delivery, attempts, payload } = await read(run);
    expect(delivery).toMatchObject({ state: DeliveryState.DELIVERED, lastOutcome: DELIVERED });
    expect(attempts).toHaveLength(1);
    expect(payload).toHaveLength(0);
  });

  it.each([
    ["are not sent again if they were delivered", DELIVERED, DeliveryState.DELIVERED],
    ["cannot be retried, one by one or all at once", REJECTED, DeliveryState.ERASED],
  ])("%s", async (_, outcome, state) => {
    const run = await payOnce();
    await record(run, outcome);
    await erase();
    const { deliveries } = services;
    const asked = { accountId: own.accountId, includeDelivered: outcome === DELIVERED };
    const retried = deliveries.retryDelivery({ ...asked, deliveryId: run.deliveryId });
    await expect(retried).rejects.toMatchObject({ code: ErrorCode.DeliveryErased });
    const all = { ...asked, endpointId: own.endpointId, ...EVER };
    expect((await deliveries.retryFailedDeliveries(all)).retried).toBe(0n);
    expect((await read(run)).delivery).toMatchObject({ run: 1, state });
  });

  it("are erased at every endpoint, in any state, and another donation's are not", async () => {
    const off = await services.createEndpoint(own.accountId);
    await services.createEndpoint(own.accountId);
    await services.endpoints.switchOffEndpoint({ accountId: own.accountId, endpointId: off });
    await pay();
    const other = donation;
    await pay();
    await services.donations.refundDonation({
      ...donation,
      refundExternalId: "refund",
      amountCents: 1n,
    });
    await erase();
    const { deliveries } = await services.deliveries.listDeliveries({ accountId: own.accountId });
    const { PENDING, PAUSED, ERASED } = DeliveryState;
    const states = deliveries.map(({ state }) => state);
    expect(states.slice(0, 3)).toEqual([ERASED, ERASED, ERASED]);
    expect(states.slice(3).toSorted()).toEqual([PENDING, PENDING, PAUSED].toSorted());
    expect(await rowsLeft()).toEqual([1, 0, 2]);
    donation = other;
    await erase();
    expect(await rowsLeft()).toEqual([0, 0, 0]);
  });
});
