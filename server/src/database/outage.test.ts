import net from "node:net";
import mysql from "mysql2";
import { expect, it } from "vitest";
import { listenLocally } from "../../../test/harness/listening.ts";
import { withDeadline } from "./deadline.ts";
import { isConnectionLost, isDeadlock, isOutage } from "./outage.ts";
import { createPool } from "./pool.ts";
import { isOutdated, isReadOnly, noteFailure, noteOpened } from "./switch-over.ts";

/** How a vtgate begins the message of a shard's error. */
const SHARD = "target: activity.-80.primary: ";
const TABLET = `${SHARD}vttablet: rpc error: code = `;

it("treats every failure of a lost connection as an outage, also without a code", async () => {
  const server = net.createServer((socket) => socket.destroy());
  const port = await listenLocally(server);
  const connection = mysql.createConnection({ host: "127.0.0.1", port });
  connection.on("error", () => undefined);
  const failure = () => new Promise((resolve) => connection.query("SELECT 1", resolve));
  expect(isOutage(await failure())).toBe(true);
  const later = await failure();
  expect(later).not.toHaveProperty("code");
  expect(isOutage(later)).toBe(true);
  server.close();
});

it("treats a server that refuses the connection as one that cannot be reached, whatever its reason", async () => {
  const refusal = Buffer.from(
    "....\xff\x6a\x04Host '192.0.2.1' is not allowed to connect",
    "latin1",
  );
  refusal.writeUIntLE(refusal.length - 4, 0, 3);
  refusal[3] = 0;
  const server = net.createServer((socket) => socket.end(refusal));
  const port = await listenLocally(server);
  const pool = createPool(`mysql://nobody@127.0.0.1:${port}/nowhere`, 1);
  const refused = await withDeadline(pool, 5_000, () => undefined).catch((error: unknown) => error);
  expect(refused).toMatchObject({ errno: 1130, sqlState: "" });
  expect([isOutage(refused), isConnectionLost(refused)]).toEqual([true, true]);
  await pool.end();
  server.close();
});

it("treats a closed pool as an outage: a call that the stop cut is no bug, ADR 0043", async () => {
  const pool = createPool("mysql://nobody@127.0.0.1:1/nowhere", 1);
  await pool.end();
  const closed = await withDeadline(pool, 5_000, () => undefined).catch((error: unknown) => error);
  expect([isOutage(closed), String(closed)]).toEqual([true, "Error: Pool is closed."]);
});

it("does not treat a wrong statement or a bug of this program as an outage", () => {
  const wrong = Object.assign(new Error(), { code: "ER_PARSE_ERROR", sqlState: "42000" });
  const bug = Object.assign(new RangeError(), { code: "ERR_BUFFER_OUT_OF_BOUNDS" });
  const ofShard = { errno: 1105, sqlState: "HY000" };
  const notFound = Object.assign(new Error(`${TABLET}NotFound desc = x`), ofShard);
  expect([wrong, bug, notFound].map(isOutage)).toEqual([false, false, false]);
});

/** Error numbers that are outages even without a `code`. `outage.ts` says what each means. */
const OUTAGES = [1026, 1030, 1047, 1129, 1135, 1180, 1206, 1637, 3032, 3100, 4031, 9001, 9002];

it.each([
  ...OUTAGES.map((errno) => [errno, "HY000", "a cluster that cannot serve now"]),
  [4999, "08S01", "a failure of the way to the server"],
  [4998, "40001", "a conflict of transactions"],
  [3101, "40000", "Plugin instructed the server to rollback the current transaction."],
  [1020, "HY000", "Record has changed since last read in table 'rate_window'"],
])("treats as an outage: %i %s, %s", (errno, sqlState, text) => {
  const failure = Object.assign(new Error(`${text}`), { code: undefined, errno, sqlState });
  expect(isOutage(failure)).toBe(true);
});

it.each([
  ["ER_OPTION_PREVENTS_STATEMENT", "HY000", true],
  ["ER_READ_ONLY_MODE", "HY000", true],
  ["ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION", "25006", true],
  ["ER_DISK_FULL", "HY000", false],
])("treats a server that cannot write now as an outage: %s", (code, sqlState, readOnly) => {
  const failure = Object.assign(new Error(), { code, sqlState });
  expect([isOutage(failure), isReadOnly(failure)]).toEqual([true, readOnly]);
});

it.each([1317, 1927, 1969, 3024])(
  "treats the end of one statement as an outage, not as a lost connection: %i",
  (errno) => {
    const failure = Object.assign(new Error(), { code: undefined, errno, sqlState: "70100" });
    expect([isOutage(failure), isConnectionLost(failure)]).toEqual([true, false]);
  },
);

it("keeps all connections when a vtgate passes on that one shard is read-only, ADR 0048", () => {
  const [pool, connection] = [{}, {}];
  noteOpened(pool, connection);
  const text = "target: activity.-80.primary: vttablet: running with --read-only (errno 1290)";
  const code = "ER_OPTION_PREVENTS_STATEMENT";
  noteFailure(pool, Object.assign(new Error(text), { code, errno: 1290, sqlState: "HY000" }));
  expect(isOutdated(connection)).toBe(false);
  noteFailure(pool, Object.assign(new Error("read-only"), { code }));
  expect(isOutdated(connection)).toBe(true);
});

it("treats a rollback by a cluster as a deadlock, not as a lost connection", () => {
  const text = "Plugin instructed the server to rollback the current transaction.";
  const rolledBack = Object.assign(new Error(text), { errno: 3101, sqlState: "40000" });
  expect([isDeadlock(rolledBack), isConnectionLost(rolledBack)]).toEqual([true, false]);
});

it.each([
  [1105, `${SHARD}no healthy tablet available for 'keyspace:"activity"'`],
  [1105, `${TABLET}Code(17) desc = operation not allowed in state SHUTTING_DOWN`],
  [1105, `${SHARD}primary is not serving, there may be a reparent operation in progress`],
  [2002, `${TABLET}Unavailable desc = net.Dial(mysql.sock) to local server failed`],
  [1105, `${TABLET}FailedPrecondition desc = disallowed due to rule: enforce denied tables`],
  [2013, `${TABLET}Canceled desc = EOF (errno 2013)`],
  [1105, `${SHARD}current keyspace is being resharded`],
  [1105, `${SHARD}inconsistent state detected, primary is serving but initially found no tablet`],
  [1105, `${SHARD}primary buffer is full`],
  [1105, `${SHARD}buffer full: request evicted for newer request`],
  [1105, `${SHARD}destination shard is missing after a resharding operation`],
  [1105, `${SHARD}VT14002: no available connection`],
  [1105, `${TABLET}FailedPrecondition desc = wrong tablet type: PRIMARY, want: REPLICA or []`],
  [1105, "VT09015: schema tracking required"],
  [1114, `${SHARD}vttablet: The table is full (errno 1114)`, "ER_RECORD_FILE_FULL"],
  [1203, `${TABLET}ResourceExhausted desc = transaction pool`, "ER_TOO_MANY_USER_CONNECTIONS"],
])(
  "treats an unreachable shard as an outage, not as a lost connection: %i %s",
  (errno, text, code?: string) => {
    const away = Object.assign(new Error(text), { errno, code, sqlState: "HY000" });
    expect([isOutage(away), isConnectionLost(away)]).toEqual([true, false]);
  },
);
