import * as proto from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { beforeEach, describe, expect, it } from "vitest";
import { writePending } from "../../../test/harness/backlog.ts";
import { QUIET } from "../../../test/harness/quiet.ts";
import { type Run, useServices } from "../../../test/harness/services.ts";
import { createClaims } from "./claim.ts";
import { createDispatchService } from "./dispatch-service.ts";

type Receiver = { readonly accountId: string; readonly endpointId: string };

const services = useServices();
let own: Receiver;
beforeEach(async () => {
  await services.database.query("DELETE FROM outbox_entry");
  own = await createReceiver();
});

async function createReceiver(): Promise<Receiver> {
  const accountId = await services.createAccount();
  return { accountId, endpointId: await services.createEndpoint(accountId) };
}
const sendTest = ({ accountId, endpointId } = own): Promise<Run> =>
  services.sendTest(accountId, endpointId);
const isLeased = async ({ deliveryId }: Run) => {
  const [row] = await services.database.query<{ leased: number }>(
    `SELECT leased_until > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS leased
     FROM outbox_entry WHERE delivery_id = ?`,
    [deliveryId],
  );
  return row && row.leased === 1;
};
const stateOf = async ({ accountId }: Receiver, { deliveryId }: Run) =>
  (await services.deliveries.getDelivery({ accountId, deliveryId })).delivery?.state;

describe("an entry that cannot be sent, §6.4, ADR 0028", () => {
  it("delays no claim while another transaction has locked its delivery", async () => {
    const run = await sendTest();
    const other = await createReceiver();
    const { deliveryId } = await sendTest(other);
    await services.endpoints.switchOffEndpoint(own);
    expect(await services.whileLocked(run, () => services.claim())).toEqual([deliveryId]);
    await services.database.query("UPDATE outbox_entry SET leased_until = NULL");
    await services.claim();
    await expect.poll(() => stateOf(own, run)).toBe(proto.DeliveryState.CANCELED);
  });

  it("is logged when it cannot be ended, and delays no claim", async () => {
    const logged: string[] = [];
    const log = {
      info: expect.unreachable,
      warn: (text: string) => logged.push(text),
      error: expect.unreachable,
    };
    const claims = createClaims({ ...services, log });
    await sendTest();
    const other = await createReceiver();
    const { deliveryId } = await sendTest(other);
    await services.endpoints.switchOffEndpoint(own);
    await services.database.withTrigger("BEFORE DELETE ON outbox_entry", async () => {
      const { entries } = await claims.attempts(8, 8);
      expect(entries).toMatchObject([{ deliveryId }]);
      await expect.poll(() => logged).toHaveLength(1);
    });
  });

  it("leaves the outbox at once with its whole backlog, although its endpoint was at its limit", async () => {
    const { accountId, endpointId } = own;
    await writePending(services.database, { accountId, endpointIds: [endpointId], count: 2_000 });
    await services.endpoints.switchOffEndpoint(own);
    const caller = new AbortController();
    const call = { limit: 64, endpointLimit: 64, wait: { seconds: 40n } };
    const claimed = services.dispatch.claimAttempts(call, { signal: caller.signal });
    claimed.catch(() => undefined);
    const entries = () => services.database.query("SELECT 1 FROM outbox_entry");
    await expect.poll(entries, { timeout: 30_000 }).toEqual([]);
    caller.abort();
  });

  it("leaves the outbox, for either task, when its delivery does not exist", async () => {
    const { accountId, endpointId } = own;
    await writePending(services.database, { accountId, endpointIds: [endpointId], count: 2 });
    await services.database.query("UPDATE outbox_entry SET task = 2 LIMIT 1");
    await services.database.query("DELETE FROM delivery");
    expect(await services.claim()).toEqual([]);
    expect((await services.dispatch.claimRetries({ limit: 8 })).retries).toEqual([]);
    const entries = () => services.database.query("SELECT 1 FROM outbox_entry");
    await expect.poll(entries).toEqual([]);
  });

  it("leaves the outbox when its run has ended, and does not change its delivery", async () => {
    const run = await sendTest();
    const failed = "UPDATE delivery SET state = ?, attempts = 1";
    await services.database.query(failed, [proto.DeliveryState.FAILED]);
    expect(await services.claim()).toEqual([]);
    expect(await stateOf(own, run)).toBe(proto.DeliveryState.FAILED);
    await expect.poll(() => isLeased(run)).toBeUndefined();
  });

  it("stays leased when its secret cannot be decrypted, is logged once, and delays no other endpoint", async () => {
    const logged: unknown[] = [];
    const log = { ...QUIET, error: (_: string, fields: unknown) => logged.push(fields) };
    const service = createDispatchService({ ...services, log });
    const runs = await Promise.all(Array.from({ length: 3 }, () => sendTest()));
    const [run] = runs as [Run];
    const load = create(proto.LoadAttemptRequestSchema, { run, attempt: 1 });
    const { deliveryId } = await sendTest(await createReceiver());
    await services.database.query("UPDATE endpoint SET secret = 'of another key' WHERE id = ?", [
      own.endpointId,
    ]);
    const claim = create(proto.ClaimAttemptsRequestSchema, { limit: 8, endpointLimit: 8 });
    const context = { signal: new AbortController().signal } as HandlerContext;
    for (let times = 0; times < 2; times++) {
      const claimed = await service.claimAttempts(claim, context);
      expect(claimed).toMatchObject({ attempts: [{ run: { deliveryId } }] });
      expect(await services.claim()).toEqual([]);
      for (const each of runs) expect(await isLeased(each)).toBe(true);
      await expect(service.loadAttempt(load, context)).rejects.toThrow("SECRET_KEYS lacks its key");
      await services.database.query("UPDATE outbox_entry SET leased_until = NULL");
    }
    const advice = expect.stringMatching(
      /SECRET_KEYS lacks the secret's key, or the secret is damaged/,
    );
    expect(logged).toMatchObject([{ endpointId: own.endpointId, advice }]);
    expect(await stateOf(own, run)).toBe(proto.DeliveryState.PENDING);
  });
});
