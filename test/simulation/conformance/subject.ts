import { AttemptOutcome } from "@activity/proto";
import type { DeliveryState } from "../../../server/src/dispatch/delivery-state.ts";
import type { DispatchStore } from "../../../server/src/dispatch/dispatch-store.ts";
import { Task } from "../../../server/src/dispatch/outbox-store.ts";
import type { NewAttempt } from "../../../server/src/dispatch/record-store.ts";
import type { RunKey } from "../../../server/src/dispatch/run-key.ts";
import { type Account, createOwner, type OwnerParts } from "../owner.ts";

/** What is stored of a delivery. */
export type StoredDelivery = {
  readonly state: DeliveryState;
  readonly run: number;
  readonly attempts: number;
  readonly lastOutcome: number | undefined;
  /** In how many milliseconds the next attempt is due. */
  readonly dueInMs: number | undefined;
};

/** A store under exercise, and what is around it; nothing is in it at first. */
export type Subject = OwnerParts & {
  readonly store: DispatchStore;
  /** Creates an account with so many endpoints, in the order of their ids. */
  createAccount(endpoints: number): Promise<Account & { readonly endpointIds: readonly string[] }>;
  /** Lets time pass by the database's clock. */
  pass(milliseconds: number): Promise<void>;
  read(deliveryId: string): Promise<StoredDelivery>;
  /** The deliveries of an account to an endpoint, oldest first. */
  deliveriesOf(accountNo: number, endpointId: string): Promise<string[]>;
  /** Does something while another transaction has locked a delivery. */
  whileLocked<Result>(deliveryId: string, work: () => Promise<Result>): Promise<Result>;
  /** Does what is done once to a database that was restored from a backup. */
  restored(): Promise<void>;
  /** Deletes all deliveries. */
  clear(): Promise<void>;
  stop(): Promise<void>;
};

const START = { accountNo: 0, endpointId: "" };

/** An account and what the exercises do with it. */
export async function createReceiver(subject: Subject, endpoints = 1) {
  const account = await subject.createAccount(endpoints);
  const { accountNo, endpointIds } = account;
  const { store } = subject;
  const owner = createOwner(account, subject);
  const [endpointId = ""] = endpointIds;
  let donations = 0;

  return {
    ...{ accountNo, endpointId, endpointIds, owner },
    /** Writes events one after the other, and returns the runs of their deliveries to the first endpoint. */
    async donate(count = 1): Promise<RunKey[]> {
      for (let number = 0; number < count; number++) {
        donations += 1;
        await owner.donate([recordOf(donations)]);
      }
      const ids = await subject.deliveriesOf(accountNo, endpointId);
      return ids.slice(-count).map((deliveryId) => ({ accountNo, deliveryId, run: 1 }));
    },
    /** What can be claimed of the account, as the claims see it. */
    async claimable(task: Task = Task.Attempt, limit = 256): Promise<string[]> {
      const found = await store.listClaimable(task, { ...START, accountNo: accountNo - 1 }, limit);
      const own = found.filter((entry) => entry.accountNo === accountNo);
      return own.map(({ deliveryId }) => deliveryId);
    },
    /** Records a failed attempt as the core does, so that a retry follows in a minute. */
    fail: (run: RunKey, attempt = 1) =>
      store.changeFree([run], () => ({
        changes: {
          attempts: [made(run, attempt)],
          outcomes: [{ keys: [run], after: { ...RETRYING, attempts: attempt } }],
          retried: attempt === 1 ? [run] : [],
        },
        result: undefined,
      })),
    content: async (run: RunKey) => (await store.findAttempt(run, 1))?.content,
  };
}
export type Receiver = Awaited<ReturnType<typeof createReceiver>>;

/** The record of a number of donations before it. */
export const recordOf = (number: number) => `record${String(number).padStart(9, "0")}`;

export const MINUTE_MICROS = 60_000_000;
const { TIMEOUT } = AttemptOutcome;
/** What a failed attempt makes of its delivery. */
export const RETRYING = { state: 2, outcome: TIMEOUT, retryInMicros: MINUTE_MICROS } as const;
export const DELIVERED = { state: 3, attempts: 1, outcome: 1, retryInMicros: undefined } as const;

/** An attempt of a run, made at a time that is its number. */
export function made(run: RunKey, attempt = 1, statusCode?: number): NewAttempt {
  return {
    ...{ ...run, attempt, startedAt: attempt * 1_000, durationMicros: 5, outcome: TIMEOUT },
    ...{ statusCode, detail: undefined, responseHeaders: "", responseBody: Buffer.alloc(0) },
  };
}
