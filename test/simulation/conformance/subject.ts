import { AttemptOutcome } from "@activity/proto";
import type { DeliveryState } from "../../../server/src/dispatch/delivery-state.ts";
import type { DispatchStore } from "../../../server/src/dispatch/dispatch-store.ts";
import { Task } from "../../../server/src/dispatch/outbox-store.ts";
import type { NewAttempt } from "../../../server/src/dispatch/record-store.ts";
import type { RunKey } from "../../../server/src/dispatch/run-key.ts";
import { type Account, createOwner, type OwnerParts } from "../owner.ts";

type StoredDelivery = {
  readonly state: DeliveryState;
  readonly run: number;
  readonly attempts: number;
  readonly lastOutcome: number | undefined;
  /** In how many milliseconds the next attempt is due. */
  readonly dueInMs: number | undefined;
};

/** A store to test, its parts for owners, and what tests do around it. It has no deliveries at first. */
export type Subject = OwnerParts & {
  readonly store: DispatchStore;
  /** Creates an account with a number of endpoints. Their ids are sorted. */
  createAccount(endpoints: number): Promise<Account & { readonly endpointIds: readonly string[] }>;
  /** Steps the database's clock. */
  pass(milliseconds: number): Promise<void>;
  read(deliveryId: string): Promise<StoredDelivery>;
  /** Lists the deliveries of an account to an endpoint, oldest first. */
  deliveriesOf(accountNo: number, endpointId: string): Promise<string[]>;
  /** Does `work` while another transaction has locked a delivery. */
  whileLocked<Result>(deliveryId: string, work: () => Promise<Result>): Promise<Result>;
  /** Does what an operator does after a restore. */
  restored(): Promise<void>;
  /** Deletes all deliveries. */
  clear(): Promise<void>;
  stop(): Promise<void>;
};

type Runs = {
  1: readonly [RunKey];
  2: readonly [RunKey, RunKey];
  3: readonly [RunKey, RunKey, RunKey];
  4: readonly [RunKey, RunKey, RunKey, RunKey];
};

/** Creates an account with endpoints, and functions for its deliveries. */
export async function createReceiver(subject: Subject, endpoints = 1) {
  const account = await subject.createAccount(endpoints);
  const { accountNo, endpointIds } = account;
  const { store } = subject;
  const owner = createOwner(account, subject);
  const [endpointId = ""] = endpointIds;
  let donations = 0;

  return {
    ...{ accountNo, endpointId, endpointIds, owner, store },
    /** Writes events one after the other. Returns the runs of their deliveries to the first endpoint. */
    async donate<Count extends keyof Runs = 1>(count = 1 as Count): Promise<Runs[Count]> {
      for (let number = 0; number < count; number++) {
        donations += 1;
        await owner.donate([recordOf(donations)]);
      }
      const ids = await subject.deliveriesOf(accountNo, endpointId);
      const runs = ids.slice(-count).map((deliveryId) => ({ accountNo, deliveryId, run: 1 }));
      return runs as unknown as Runs[Count];
    },
    /** Lists the deliveries of the account that can be claimed. */
    async claimable(task: Task = Task.Attempt, limit = 256, includeEnded = true) {
      const start = { accountNo: accountNo - 1, endpointId: "" };
      const found = await store.listClaimable(task, start, limit, includeEnded);
      return idsOf(found.filter((entry) => entry.accountNo === accountNo));
    },
    countLeased: (task: Task) => store.countLeased(task, [{ accountNo, endpointId }]),
    /** Records a failed first attempt as the core does, so that a retry follows in a minute. */
    fail: (run: RunKey) =>
      store.changeFree([run], () => ({
        changes: {
          attempts: [made(run, 1)],
          outcomes: [{ keys: [run], after: RETRYING }],
          retried: [run],
        },
        result: undefined,
      })),
    content: async (run: RunKey) => (await store.findAttempt(run, 1))?.content,
  };
}

export const idsOf = (runs: readonly { readonly deliveryId: string }[]) =>
  runs.map(({ deliveryId }) => deliveryId);

/** Returns the record id of an account's donation with this number. */
export const recordOf = (number: number) => `record${String(number).padStart(9, "0")}`;

export const MINUTE_MICROS = 60_000_000;
const { TIMEOUT } = AttemptOutcome;
/** The values of a delivery after its first attempt failed, or was delivered. */
const RETRYING = { state: 2, attempts: 1, outcome: TIMEOUT, retryInMicros: MINUTE_MICROS } as const;
export const DELIVERED = { state: 3, attempts: 1, outcome: 1, retryInMicros: undefined } as const;

/** An attempt that timed out. Attempt n began n milliseconds after the start of 1970. */
export function made(run: RunKey, attempt: number, statusCode?: number): NewAttempt {
  return {
    ...{ ...run, attempt, startedAt: attempt * 1_000, durationMicros: 5, outcome: TIMEOUT },
    ...{ statusCode, detail: undefined, responseHeaders: "", responseBody: Buffer.alloc(0) },
  };
}
