import { type AccountRange, apiKeyOf, clientAddressOf } from "../data/bench-accounts.ts";
import { type Answer, HttpConnection } from "../load/http-connection.ts";
import type { After } from "../load/keep-busy.ts";

/** The parts of the contract's page that the bench reads. */
type Page = {
  readonly data: readonly { readonly recorded_at: string }[];
  readonly pagination: { readonly has_more: boolean; readonly next_cursor: string };
};
/** The requests to a side in one workload. */
export type Requests = {
  /** Prepares a turn, so that its first request is like all others. */
  beforeTurn?(): Promise<void>;
  /** Sends one request. The returned function checks the answer and throws if it is wrong. */
  ask(send: (request: Buffer) => Promise<Answer>): Promise<After>;
};

export const PAGE_SIZE = 50;
const CONNECTIONS = 16;

/** Encodes a request for an account's page, as a proxy forwards it. */
export function pageRequest(accountNo: number, query = ""): Buffer {
  const head = [
    ...[`GET /api/v1/activity${query} HTTP/1.1`, "Host: 127.0.0.1"],
    `Authorization: Bearer ${apiKeyOf(accountNo)}`,
    `X-Forwarded-For: ${clientAddressOf(accountNo)}`,
    ...["Accept: application/json", "User-Agent: bench", "\r\n"],
  ];
  return Buffer.from(head.join("\r\n"), "latin1");
}

/** Parses an answer's page. Throws if there is none. */
export function pageOf({ status, body }: Answer): Page {
  if (status !== 200) throw new Error(`a page was answered with ${status}: ${body.toString()}`);
  return JSON.parse(body.toString());
}

/** Runs `work` for every account of a range over parallel connections. */
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
