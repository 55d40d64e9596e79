import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { DeliveryState } from "@activity/proto";
import { expect, it } from "vitest";
import { writeDeliveries } from "../harness/backlog.ts";
import { useServices } from "../harness/services.ts";

const RETRIER = fileURLToPath(new URL("killed-retrier.ts", import.meta.url));
const FAILED = 1_000;
const END = "null";

const services = useServices();

/** Continues a bulk retry and kills its process some time after `parts` parts. Returns the last printed position. */
async function retryUntilKilled(accountId: string, position: string, parts: number) {
  const retrier = spawn(process.execPath, [RETRIER, services.database.url, accountId, position]);
  const ended = once(retrier, "exit");
  retrier.stdin.on("error", () => undefined);
  let [last, left] = [position, parts];
  for await (const line of createInterface({ input: retrier.stdout })) {
    last = line;
    left -= 1;
    if (line !== END) retrier.stdin.write("\n");
    if (left === 0) setTimeout(() => retrier.kill("SIGKILL"), randomInt(10));
  }
  await ended;
  return last;
}

it("ADR 0053: a bulk retry begins each delivery once while its process is killed again and again", async () => {
  const accountId = await services.createAccount();
  const endpointIds = [
    await services.createEndpoint(accountId),
    await services.createEndpoint(accountId),
  ];
  const backlog = { accountId, endpointIds, count: FAILED };
  await writeDeliveries(services.database, backlog, { state: DeliveryState.FAILED, attempts: 8 });
  let position = "";
  let kills = 0;
  for (; position !== END; kills++) {
    position = await retryUntilKilled(accountId, position, 1 + randomInt(10));
  }
  expect(kills).toBeGreaterThan(3);
  const counted = "SELECT run, state, COUNT(*) AS n FROM delivery GROUP BY run, state";
  expect(await services.database.query(counted)).toEqual([
    { run: 2, state: DeliveryState.PENDING, n: FAILED },
  ]);
  const entries = "SELECT run, COUNT(*) AS n FROM outbox_entry GROUP BY run";
  expect(await services.database.query(entries)).toEqual([{ run: 2, n: FAILED }]);
}, 120_000);
