import { once } from "node:events";
import { PROCESS_TIMING } from "@activity/runtime/timing";
import { createPackets } from "../../server/src/database/packet.ts";
import { createPool } from "../../server/src/database/pool.ts";
import { type Position, retryFailed } from "../../server/src/delivery/retry-failed.ts";
import { createOutbox } from "../../server/src/dispatch/outbox.ts";
import { createWriter } from "../../server/src/write/writer.ts";

/**
 * A test kills and restarts this program. It continues a bulk retry, prints its position after each part, and waits for
 * a line.
 */
const [databaseUrl = "", accountId = "", position = ""] = process.argv.slice(2);
const PART = 20;
const pool = createPool(databaseUrl, 1);
const packets = createPackets(databaseUrl, 1, 10_000);
const outbox = createOutbox(PROCESS_TIMING);
const connections = { together: packets, alone: packets, leftOut: packets };
const writer = createWriter(connections, outbox, { note() {} });
const ended = {
  ...{ accountId, endpointId: undefined, range: { since: 0, until: Number.MAX_SAFE_INTEGER } },
  ...{ includeDelivered: false, kind: undefined, lastOutcome: undefined },
};
let from: Position | undefined = position === "" ? undefined : JSON.parse(position);
const { signal } = new AbortController();
do {
  const part = await retryFailed(pool, writer, outbox, ended, { from, limit: PART }, signal);
  from = part.next;
  process.stdout.write(`${JSON.stringify(from ?? null)}\n`);
  if (from !== undefined) await once(process.stdin, "data");
} while (from !== undefined);
process.exit();
