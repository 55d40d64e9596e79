import type { HandlerContext } from "@connectrpc/connect";
import { updateBlocked } from "../../server/src/account/account-store.ts";
import type { Asks } from "../../server/src/database/lookup.ts";
import type { Packets } from "../../server/src/database/packet.ts";
import type { Pool } from "../../server/src/database/pool.ts";
import { beginNextRuns } from "../../server/src/delivery/begin-runs.ts";
import { createDeliveryService } from "../../server/src/delivery/delivery-service.ts";
import { deliveriesBy } from "../../server/src/delivery/delivery-store.ts";
import { retriableStates } from "../../server/src/dispatch/delivery-state.ts";
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

/** An account. */
export type Account = { readonly accountNo: number; readonly accountId: string };

/** Told of bytes that may be sent without being read again, while their account is locked. */
export type NoteWritten = (
  payload: Buffer,
  endpoint: { readonly id: string; readonly secret: Buffer },
  leasedUntil: number,
) => void;

/** Where owners and services write. */
export type OwnerParts = {
  readonly packets: Pick<Packets, "loadAndStore">;
  readonly outbox: Outbox;
  readonly noteWritten?: NoteWritten;
};

/** What the owner of an account, and services for it, have written: the real decisions, in transactions of their own. */
export type Owner = ReturnType<typeof createOwner>;

/** Creates the owner of an account. */
export function createOwner({ accountNo, accountId }: Account, parts: OwnerParts) {
  const { packets, outbox, noteWritten } = parts;
  const writer: Writer = {
    async write<Asked extends Asks, Answer>({ load, decide }: Write<Asked, Answer>) {
      const planned = { accountId, accountNo, asks: load(accountNo), span: undefined };
      // What is found are the answers to its own asks.
      const write = { ...planned, decide: (found: never, locked: never) => decide(found, locked) };
      const { outcomes } = await commitWrites(packets, outbox, [write as never], true);
      const [outcome] = outcomes;
      if (outcome?.kind === "written") return outcome.answer as Answer;
      throw outcome?.kind === "refused" ? outcome.error : new Error("there is no such account");
    },
  };
  // Only what lists and shows deliveries needs a pool.
  const service = createDeliveryService(undefined as unknown as Pool, writer, outbox);
  const change = (id: string, switchedOn: boolean) =>
    writer.write({
      accountId,
      load: () => ({ endpoints: endpointsOf([accountNo]) }),
      decide({ endpoints }) {
        const stored = endpoints.find((endpoint) => endpoint.id === id);
        const changes = stored ? [updateEndpoint(accountNo, { ...stored, switchedOn })] : [];
        return { answer: undefined, changes };
      },
    });
  const alone = (changes: Parameters<typeof decided>[0]) =>
    writer.write({ accountId, load: () => ({}), decide: decided(changes) });

  return {
    /** Writes events of donations, each of which is told to all endpoints of the account. */
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
    switchOff: (endpointId: string) => change(endpointId, false),
    switchOn: (endpointId: string) => change(endpointId, true),
    rotate: (endpointId: string, secret: Buffer) =>
      alone(() => [updateSecret(accountNo, endpointId, secret)]),
    remove: (endpointId: string) =>
      alone((nowMicros) => [markEndpointDeleted(accountNo, endpointId, nowMicros)]),
    block: () => alone((nowMicros) => [updateBlocked(accountNo, nowMicros)]),
    unblock: () => alone(() => [updateBlocked(accountNo, null)]),
    erase: (recordId: string) => alone(() => eraseWebhookEvents(accountNo, recordId)),
    async retry(deliveryId: string): Promise<void> {
      const request = { accountId, deliveryId, includeDelivered: true, includeRetrying: true };
      await service.retryDelivery(request as never, {} as HandlerContext);
    },
    /** Retries those of some deliveries that can be. */
    retryAll: async (ids: readonly string[]) => {
      await writer.write({
        accountId,
        load: () => ({ deliveries: deliveriesBy(...ids.map((id) => [accountNo, id])) }),
        decide({ deliveries }, account) {
          const states = retriableStates({});
          const ended = deliveries.filter(({ state }) => states.includes(state));
          const changes = ended.length > 0 ? beginNextRuns(account, ended) : [];
          return { answer: undefined, changes };
        },
      });
      outbox.attempts.notify();
    },
  };
}

function decided(changesAt: (nowMicros: number) => readonly ReturnType<typeof updateSecret>[]) {
  return (_found: unknown, { nowMicros }: { readonly nowMicros: number }) => ({
    answer: undefined,
    changes: changesAt(nowMicros),
  });
}

function donationOf(recordId: string) {
  const record = { recordId, amountCents: 500, refundedAmountCents: 0, currency: "eur", paidAt: 0 };
  const nobody = { donorName: undefined, message: undefined };
  return { kind: WebhookEventKind.DonationCreated, record: { ...record, ...nobody } };
}
