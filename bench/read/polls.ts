import type { Connection } from "mysql2/promise";
import type { AccountRange } from "../data/bench-accounts.ts";
import { recordFollow } from "../data/feed.ts";
import type { Answer } from "../load/http-connection.ts";
import { forEachAccount, pageOf, pageRequest, type Requests } from "./requests.ts";

const POLLS_FOR_A_RECORD = 100;

/** Follows the feed of each account from its last record. */
export async function preparePolls(
  port: number,
  writer: Connection,
  accounts: AccountRange,
): Promise<Requests> {
  const pollers = new Map<number, Poller>();
  await forEachAccount(port, accounts, async (connection, accountNo) => {
    const { data } = pageOf(await connection.send(pageRequest(accountNo, "?limit=1")));
    pollers.set(accountNo, new Poller(accountNo, data[0]?.recorded_at ?? ""));
  });
  const inTurn = [...pollers.values()];
  let [asked, answered] = [0, 0];
  return {
    // Skips the records that were written during other sides' turns.
    beforeTurn: () =>
      forEachAccount(port, accounts, async (connection, accountNo) => {
        const poller = pollers.get(accountNo);
        while (poller?.catchUp(await connection.send(poller.request)));
      }),
    async ask(send) {
      let poller: Poller | undefined;
      // Skips an account whose slow write lasts until its next turn.
      do poller = inTurn[asked++ % inTurn.length];
      while (poller?.isWriting);
      if (poller === undefined) throw new Error("there is no account");
      const answer = await send(poller.request);
      return async () => {
        poller.take(answer);
        if (++answered % POLLS_FOR_A_RECORD > 0) return;
        poller.isWriting = true;
        await recordFollow(writer, poller.accountNo);
        poller.written += 1;
        poller.isWriting = false;
      };
    },
  };
}

/** An account's position in its feed. */
class Poller {
  readonly accountNo: number;
  readonly #since: string;
  request: Buffer;
  /** Records written since its last poll. */
  written = 0;
  /** Whether a record is being written. Its account is not polled meanwhile. */
  isWriting = false;
  /** The body's length of an answer without records. */
  #emptyLength = 0;

  constructor(accountNo: number, since: string) {
    this.accountNo = accountNo;
    this.#since = since;
    this.request = pageRequest(accountNo, `?order=asc&since=${since}`);
  }

  /** Takes an answer's records without checking their number. Tells whether there may be more. */
  catchUp(answer: Answer): boolean {
    this.written = this.#read(answer);
    if (this.written === 0) this.#emptyLength = answer.body.length;
    return this.written > 0;
  }

  /** Throws unless an answer has as many records as were written. */
  take(answer: Answer): void {
    if (this.written === 0 && answer.body.length === this.#emptyLength && answer.status === 200)
      return;
    const brought = this.#read(answer);
    if (brought !== this.written) {
      throw new Error(`a poll brought ${brought} records of ${this.written}`);
    }
    this.written = 0;
  }

  #read(answer: Answer): number {
    const { data, pagination } = pageOf(answer);
    const cursor = encodeURIComponent(pagination.next_cursor);
    const query = `?order=asc&since=${this.#since}&cursor=${cursor}`;
    if (data.length > 0) this.request = pageRequest(this.accountNo, query);
    return data.length;
  }
}
