import type { AccountRange } from "../data/bench-accounts.ts";
import { HttpConnection } from "./http-connection.ts";

const CONNECTIONS = 16;

/** Does something for every account of a range, on some connections side by side. */
export async function forEachAccount(
  port: number,
  { first, count }: AccountRange,
  work: (connection: HttpConnection, accountNo: number) => Promise<void>,
): Promise<void> {
  let next = first;
  const workAll = async () => {
    const connection = new HttpConnection(port);
    while (next < first + count) await work(connection, next++);
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, workAll));
}
