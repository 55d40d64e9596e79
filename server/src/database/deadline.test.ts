import net from "node:net";
import { expect, it } from "vitest";
import { listenLocally } from "../../../test/harness/listening.ts";
import { DatabaseTimeoutError, withDeadline } from "./deadline.ts";
import { isOutage } from "./outage.ts";
import { createPool } from "./pool.ts";
import { poolUse } from "./pool-use.ts";

it("keeps at most 10,000 callers in the queue while the database hangs, and fails the others at once", async () => {
  const sockets: net.Socket[] = [];
  // The server never sends MySQL's greeting.
  const server = net.createServer((socket) => sockets.push(socket));
  const port = await listenLocally(server);
  const pool = createPool(`mysql://nobody@127.0.0.1:${port}/nowhere`, 1);
  const failures: unknown[] = [];
  const call = () =>
    withDeadline(pool, 20, () => undefined).catch((error: unknown) => void failures.push(error));
  await Promise.all(Array.from({ length: 10_100 }, call));
  expect(poolUse(pool.pool).waiting).toBeLessThanOrEqual(10_000);
  const isLate = (failure: unknown) => failure instanceof DatabaseTimeoutError;
  expect(failures.filter(isLate)).toHaveLength(10_001);
  expect(failures.filter((failure) => !isLate(failure) && isOutage(failure))).toHaveLength(99);
  const ended = pool.end().catch(() => undefined);
  for (const socket of sockets) socket.destroy();
  server.close();
  await ended;
});
