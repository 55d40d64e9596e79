import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { updateBlocked } from "../../server/src/account/account-store.ts";
import type { Asks } from "../../server/src/database/lookup.ts";
import type { Packets, Statement } from "../../server/src/database/packet.ts";
import type { Pool } from "../../server/src/database/pool.ts";
import { createDeliveryService } from "../../server/src/delivery/delivery-service.ts";
import type { Outbox } from "../../server/src/dispatch/outbox.ts";
import { LEASE_MICROS } from "../../server/src/dispatch/outbox-store.ts";
import {
  endpointsOf,
  markEndpointDeleted,
  updateEndpoint,
  updateSecret,
} from "../../server/src/endpoint/endpoint-store.ts";
import { newWebhookEvents } from "../../server/src/webhook-event/new-webhook-event.ts";
import { WebhookEventKind } from "../../server/src/webhook-event/webhook-event-kind.ts";
import {
  eraseWebhookEvents,
  receivingEndpointsOf,
} from "../../server/src/webhook-event/webhook-event-store.ts";
import { commitWrites } from "../../server/src/write/commit-writes.ts";
import type { Write } from "../../server/src/write/write.ts";
import type { Writer } from "../../server/src/write/writer.ts";

/** The deliveries in one part of a bulk retry. They are few, so that faults strike between the parts. */
const PART = 2;
const EVER = { since: timestampFromMs(0), until: timestampFromMs(3e12) };

export type Account = { readonly accountNo: number; readonly accountId: string };

/** The core's parts that owners write through. */
export type OwnerParts = {
  /** The pool that lists the deliveries of a bulk retry. */
  readonly pool: Pool;
  readonly packets: Pick<Packets, "loadAndStore">;
  readonly outbox: Outbox;
  /** Called with each payload that may be sent without another load, while its account is locked. */
  readonly noteWritten?: (
    payload: Buffer,
    endpoint: { readonly id: string; readonly secret: Buffer },
    leasedUntil: number,
  ) => void;
};

/** The owner of an account, and the services that write for it. Each write is a transaction with the real decisions. */
export type Owner = ReturnType<typeof createOwner>;

export function createOwner({ accountNo, accountId }: Account, parts: OwnerParts) {
  const { pool, packets, outbox, noteWritten } = parts;
  const writer: Writer = {
    async write<Asked extends Asks, Answer>({ load, decide }: Write<Asked, Answer>) {
      const planned = { accountId, accountNo, asks: load(accountNo), span: undefined };
      // The commit gives the decision of each write the rows that this write asked for.
      const write = { ...planned, decide: (found: never, locked: never) => decide(found, locked) };
      const { outcomes } = await commitWrites(packets, outbox, [write as never], true);
      const [outcome] = outcomes;
      if (outcome?.kind === "written") return outcome.answer as Answer;
      throw outcome?.kind === "refused" ? outcome.error : new Error("there is no such account");
    },
  };
  const service = createDeliveryService(pool, writer, outbox);
  const switchTo = (endpointId: string, switchedOn: boolean) =>
    writer.write({
      accountId,
      load: () => ({ endpoints: endpointsOf([accountNo]) }),
      decide({ endpoints }) {
        const stored = endpoints.find(({ id }) => id === endpointId);
        const changes = stored ? [updateEndpoint(accountNo, { ...stored, switchedOn })] : [];
        return { answer: undefined, changes };
      },
    });
  /** Makes changes that depend on no stored row. */
  const change = (changesAt: (nowMicros: number) => readonly Statement[]) =>
    writer.write({
      ...{ accountId, load: () => ({}) },
      decide: (_, { nowMicros }) => ({ answer: undefined, changes: changesAt(nowMicros) }),
    });

  return {
    /** Writes one event for each donation. Every endpoint of the account gets it. */
    donate: (recordIds: readonly string[]) =>
      writer.write({
        accountId,
        load: () => ({ endpoints: receivingEndpointsOf([accountNo]) }),
        decide({ endpoints }, account) {
          const events = newWebhookEvents(account, endpoints, recordIds.map(donationOf));
          for (const { payload } of events) {
            for (const endpoint of endpoints) {
              noteWritten?.(payload, endpoint, account.nowMicros + LEASE_MICROS);
            }
          }
          return { answer: undefined, events };
        },
      }),
    switchOff: (endpointId: string) => switchTo(endpointId, false),
    switchOn: (endpointId: string) => switchTo(endpointId, true),
    rotate: (endpointId: string, secret: Buffer) =>
      change(() => [updateSecret(accountNo, endpointId, secret)]),
    remove: (endpointId: string) =>
      change((nowMicros) => [markEndpointDeleted(accountNo, endpointId, nowMicros)]),
    block: () => change((nowMicros) => [updateBlocked(accountNo, nowMicros)]),
    unblock: () => change(() => [updateBlocked(accountNo, null)]),
    erase: (recordId: string) => change(() => eraseWebhookEvents(accountNo, recordId)),
    async retry(deliveryId: string): Promise<void> {
      const request = { accountId, deliveryId, includeDelivered: true, includeRetrying: true };
      await service.retryDelivery(request as never, {} as HandlerContext);
    },
    /** Retries a part of the deliveries that have ended. Returns the token of the next part, empty after the last. */
    async retryPart(pageToken: string): Promise<string> {
      const chosen = { endpointId: "", kind: 0, lastOutcome: 0, includeDelivered: false };
      const request = { accountId, ...chosen, ...EVER, pageSize: PART, pageToken };
      const context = { signal: new AbortController().signal, values: createContextValues() };
      const answer = await service.retryFailedDeliveries(
        request as never,
        context as HandlerContext,
      );
      return answer.nextPageToken ?? "";
    },
  };
}

function donationOf(recordId: string) {
  const record = { recordId, amountCents: 500, refundedAmountCents: 0, currency: "eur", paidAt: 0 };
  const nobody = { donorName: undefined, message: undefined };
  return { kind: WebhookEventKind.DonationCreated, record: { ...record, ...nobody } };
}
