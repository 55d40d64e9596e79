import type { Connection } from "mysql2/promise";
import type { AccountRange } from "../data/bench-accounts.ts";
import { recordFollow } from "../data/record-follow.ts";
import { forEachAccount } from "./for-each-account.ts";
import type { HttpConnection } from "./http-connection.ts";
import { pageRequest } from "./page-request.ts";
import { type Exchange, pageOf, type Requests } from "./workload.ts";

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
  const pollers: Poller[] = [];
  let next = 0;
  let answered = 0;

  async function catchUp(connection: HttpConnection, poller: Poller): Promise<void> {
    for (;;) {
      const answer = await connection.send(poller.request);
      const { data, pagination } = pageOf(answer);
      if (data.length === 0) {
        poller.emptyLength = answer.body.length;
        return;
      }
      poller.request = requestAfter(poller, pagination.next_cursor);
    }
  }

  async function take(poller: Poller, answer: Parameters<Exchange["take"]>[0]): Promise<void> {
    if (poller.written > 0 || answer.body.length !== poller.emptyLength) {
      const { data, pagination } = pageOf(answer);
      if (data.length !== poller.written) {
        throw new Error(`a poll brought ${data.length} records of ${poller.written}`);
      }
      poller.request = requestAfter(poller, pagination.next_cursor);
      poller.written = 0;
    } else if (answer.status !== 200) {
      throw new Error(`a poll was answered with ${answer.status}`);
    }
    answered += 1;
    if (answered % POLLS_FOR_A_RECORD === 0) {
      // Counted before it is there: the account's next poll is a whole turn away.
      poller.written += 1;
      await recordFollow(writer, poller.accountNo);
    }
  }

  await forEachAccount(port, accounts, async (connection, accountNo) => {
    const newest = pageOf(await connection.send(pageRequest(accountNo, "?limit=1")));
    const since = newest.data[0]?.recorded_at ?? "";
    const request = pageRequest(accountNo, `?order=asc&since=${since}`);
    const poller = { accountNo, since, request, emptyLength: 0, written: 0 };
    await catchUp(connection, poller);
    pollers.push(poller);
  });
  return {
    // What other sides were told in their turns is no news of this one.
    async beforeTurn() {
      const byAccount = new Map(pollers.map((poller) => [poller.accountNo, poller]));
      await forEachAccount(port, accounts, async (connection, accountNo) => {
        const poller = byAccount.get(accountNo) as Poller;
        await catchUp(connection, poller);
        poller.written = 0;
      });
    },
    next() {
      const poller = pollers[next++ % pollers.length] as Poller;
      return { request: poller.request, take: (answer) => take(poller, answer) };
    },
  };
}

function requestAfter({ accountNo, since }: Poller, cursor: string): Buffer {
  const query = `?order=asc&since=${since}&cursor=${encodeURIComponent(cursor)}`;
  return pageRequest(accountNo, query);
}
