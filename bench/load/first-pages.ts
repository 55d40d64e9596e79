import type { AccountRange } from "../data/bench-accounts.ts";
import { forEachAccount } from "./for-each-account.ts";
import { pageRequest } from "./page-request.ts";
import { type Exchange, PAGE_SIZE, pageOf, type Requests } from "./workload.ts";

/** Reads the first page of each account once; its answers must be as long ever after. */
export async function prepareFirstPages(port: number, accounts: AccountRange): Promise<Requests> {
  const exchanges: Exchange[] = [];
  await forEachAccount(port, accounts, async (connection, accountNo) => {
    const request = pageRequest(accountNo);
    const first = await connection.send(request);
    const { data, pagination } = pageOf(first);
    if (data.length !== PAGE_SIZE || !pagination.has_more) {
      throw new Error(`a page has ${data.length} activities, has_more: ${pagination.has_more}`);
    }
    exchanges.push({
      request,
      take({ body }) {
        if (body.length !== first.body.length) throw new Error("an answer's length has changed");
      },
    });
  });
  let next = 0;
  return {
    beforeTurn: async () => {},
    next: () => exchanges[next++ % exchanges.length] as Exchange,
  };
}
