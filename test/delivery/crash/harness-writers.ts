import type { Code } from "@connectrpc/connect";
import { createAccount, createEndpoint, unique } from "../../harness/builders.ts";
import { addRecord, EVENTS_OF, Kind, recordIn } from "../../harness/records.ts";
import { lineOf } from "./harness-feed.ts";
import { untilAcknowledged } from "./harness-repeat.ts";
import type { CrashStack } from "./harness-stack.ts";

/** The accounts of one test, each with an endpoint at the receiver. */
export type Party = {
  readonly accountIds: readonly string[];
  readonly secrets: readonly string[];
  /** The beginning of its endpoints' paths. */
  readonly path: string;
};

/** Texts of every record. Tests search for them in histories and logs. */
export const STORED_TEXTS = { donorName: "Wilhelmina Zzyzx", message: "plum teapot monsoon" };
/** A part of all endpoints' paths. Tests search for it in histories and logs. */
export const STORED_PATH = "velvet-otter";

/** Creates the accounts and endpoints of one test. */
export async function createParty(stack: CrashStack, accounts: number): Promise<Party> {
  const path = `/${STORED_PATH}/${unique("party")}/`;
  const created = Array.from({ length: accounts }, async () => {
    const accountId = await createAccount(stack);
    const url = `https://${stack.target}${path}${accountId}`;
    return { accountId, ...(await createEndpoint(stack, accountId, url)) };
  });
  const all = await Promise.all(created);
  return {
    accountIds: all.map(({ accountId }) => accountId),
    secrets: all.map(({ secret }) => secret),
    path,
  };
}

/** A record as its writer knows it from the answers. */
type WrittenRecord = {
  readonly line: string;
  /** Its webhook events. */
  readonly told: readonly string[];
};

/** What the writers know after they have stopped. */
export type Written = {
  /** The records by account id. */
  readonly records: ReadonlyMap<string, readonly WrittenRecord[]>;
  /** The codes of the failures that came before calls succeeded. */
  readonly failures: readonly Code[];
};

/**
 * Runs writers until they are stopped, half of them for the first account. Between two records each waits for `pause`.
 */
export function startWriting(
  stack: CrashStack,
  { accountIds }: Party,
  writers: number,
  pause: () => Promise<unknown>,
) {
  const accountsOf = Array.from({ length: writers }, (_, writer) => accountOf(writer, accountIds));
  const records = new Map(accountsOf.map((id): [string, WrittenRecord[]] => [id, []]));
  const failed: Code[] = [];
  let [answered, inFlight] = [0, 0];
  let isStopped = false;
  let isOver = false;

  async function ask<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    const { answer, failures } = await untilAcknowledged(async () => {
      inFlight += 1;
      return call().finally(() => {
        inFlight -= 1;
      });
    });
    answered += 1;
    failed.push(...failures);
    return answer;
  }

  const kinds = Object.values(Kind);
  async function write(accountId: string, writer: number): Promise<void> {
    for (let next = writer; !isStopped; next++) {
      const kind = kinds[next % kinds.length] ?? Kind.Donation;
      const key = { accountId, externalId: unique("record") };
      const record = recordIn(await addRecord(stack.client, kind, key, STORED_TEXTS, ask));
      const told = EVENTS_OF[kind].map((event) => `${event} ${record.recordId}`);
      records.get(accountId)?.push({ line: lineOf(record), told });
      await pause();
    }
  }

  const all = Promise.all(accountsOf.map(write));
  return {
    answered: () => answered,
    /** The number of calls without an answer yet. */
    inFlight: () => inFlight,
    isOver: () => isOver,
    /** Lets each writer finish its current record. */
    stop() {
      isStopped = true;
    },
    /** Everything that was written. Rejects if a call was refused. */
    written: all
      .then((): Written => ({ records, failures: failed }))
      .finally(() => {
        isOver = true;
      }),
  };
}

/** Returns a writer's account: every second writer gets the first account, and the others share the rest. */
function accountOf(writer: number, [first = "", ...others]: readonly string[]): string {
  return writer % 2 === 0 ? first : (others[Math.floor(writer / 2) % others.length] ?? first);
}
