import type { Connection } from "mysql2/promise";
import type { AccountRange } from "../data/bench-accounts.ts";
import { recordFollow } from "../data/feed.ts";
import type { Answer, HttpConnection } from "../load/http-connection.ts";
import { forEachAccount, pageOf, pageRequest, type Requests } from "./page.ts";

const POLLS_FOR_A_RECORD = 100;

/** Where one account stands in its feed. */
type Poller = {
  readonly accountNo: number;
  readonly since: string;
  request: Buffer;
  /** The length of the answer that brings nothing. */
  emptyLength: number;
  /** Records that were written since its last poll. */
  written: number;
};

/** Follows the feed of each account from its last record on. */
export async function preparePolls(
  port: number,
  writer: Connection,
  accounts: AccountRange,
): Promise<Requests> {
  const pollers = new Map<number, Poller>();
  await forEachAccount(port, accounts, async (connection, accountNo) => {
    const newest = pageOf(await connection.send(pageRequest(accountNo, "?limit=1")));
    const since = newest.data[0]?.recorded_at ?? "";
    const request = pageRequest(accountNo, `?order=asc&since=${since}`);
    pollers.set(accountNo, { accountNo, since, request, emptyLength: 0, written: 0 });
  });
  const inTurn = [...pollers.values()];
  let asked = 0;
  let answered = 0;
  return {
    // What other sides were told in their turns is no news of this one.
    beforeTurn: () =>
      forEachAccount(port, accounts, async (connection, accountNo) => {
        const poller = pollers.get(accountNo);
        if (poller !== undefined) await catchUp(connection, poller);
      }),
    async ask(send) {
      const poller = inTurn[asked++ % inTurn.length];
      if (poller === undefined) throw new Error("there is no account");
      const answer = await send(poller.request);
      return async () => {
        take(poller, answer);
        if (++answered % POLLS_FOR_A_RECORD > 0) return;
        // Counted before it is there: the account's next poll is a whole turn away.
        poller.written += 1;
        await recordFollow(writer, poller.accountNo);
      };
    },
  };
}

async function catchUp(connection: HttpConnection, poller: Poller): Promise<void> {
  for (;;) {
    const answer = await connection.send(poller.request);
    const { data, pagination } = pageOf(answer);
    if (data.length > 0) goOn(poller, pagination.next_cursor);
    else {
      poller.emptyLength = answer.body.length;
      poller.written = 0;
      return;
    }
  }
}

function take(poller: Poller, answer: Answer): void {
  if (poller.written > 0 || answer.body.length !== poller.emptyLength) {
    const { data, pagination } = pageOf(answer);
    if (data.length !== poller.written) {
      throw new Error(`a poll brought ${data.length} records of ${poller.written}`);
    }
    goOn(poller, pagination.next_cursor);
    poller.written = 0;
  } else if (answer.status !== 200) {
    throw new Error(`a poll was answered with ${answer.status}`);
  }
}

function goOn(poller: Poller, cursor: string): void {
  const query = `?order=asc&since=${poller.since}&cursor=${encodeURIComponent(cursor)}`;
  poller.request = pageRequest(poller.accountNo, query);
}
