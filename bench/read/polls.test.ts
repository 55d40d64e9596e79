import { createServer } from "node:http";
import type { Connection } from "mysql2/promise";
import { afterAll, expect, it } from "vitest";
import { listenLocally } from "../../test/harness/listening.ts";
import { HttpConnection } from "../load/http-connection.ts";
import { preparePolls } from "./polls.ts";

const ACCOUNTS = { first: 1, count: 3 };
const POLLS_FOR_A_RECORD = 100;

/** The addresses of accounts whose next poll brings a record. */
const written = new Set<string>();
const polled: string[] = [];
const server = createServer(({ url = "", headers }, response) => {
  const address = `${headers["x-forwarded-for"]}`;
  if (!url.includes("limit=1")) polled.push(address);
  const data = url.includes("limit=1") || written.delete(address) ? [{ recorded_at: "now" }] : [];
  const pagination = { has_more: false, next_cursor: "next" };
  response.end(JSON.stringify({ data, pagination }));
});
afterAll(() => server.close());

it("polls an account again only once its new record is written", async () => {
  const port = await listenLocally(server);
  const slow = Promise.withResolvers<void>();
  const writer = { query: () => slow.promise } as unknown as Connection;
  const { beforeTurn, ask } = await preparePolls(port, writer, ACCOUNTS);
  await beforeTurn?.();
  const connection = new HttpConnection(port);
  const poll = async () => ask((request) => connection.send(request));
  for (let polls = 1; polls < POLLS_FOR_A_RECORD; polls += 1) await (await poll())?.();

  const writing = (await poll())?.();
  const address = polled.at(-1) ?? "";
  polled.length = 0;
  for (let polls = 0; polls < 2 * ACCOUNTS.count; polls += 1) await (await poll())?.();
  expect(polled).not.toContain(address);

  written.add(address);
  slow.resolve();
  await writing;
  for (let polls = 0; polls < ACCOUNTS.count; polls += 1) await (await poll())?.();
  expect(polled).toContain(address);
  connection.close();
});
