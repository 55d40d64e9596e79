import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseProxy } from "../../test/harness/database-proxy.ts";
import type { Watch } from "../measure/watch.ts";
import type { Receiver } from "../receiver/start-receiver.ts";

const BINARY_LOG = "bench-binlog";
const BINARY_LOG_FILE = new RegExp(`^${BINARY_LOG}\\.\\d+$`);
const STATUS = ["Com_commit", "Bytes_received", "Bytes_sent", "Innodb_os_log_written"];

/** Has a database keep a binary log, as Vitess and replicas need it. Nothing is timed, so it need not be synced. */
export const LOG_OPTIONS = [
  ...[`--log-bin=${BINARY_LOG}`, "--binlog-format=ROW", "--server-id=1", "--sync-binlog=0"],
];

/** What is counted, and what a report calls it. */
export const COUNTERS = {
  roundTrips: "round trips",
  statements: "statements",
  commits: "commits",
  toDatabase: "bytes to the database",
  fromDatabase: "bytes from it",
  redo: "bytes of redo log",
  binaryLog: "bytes of binary log",
  toReceiver: "bytes to the receiver",
} as const;
export type CounterName = keyof typeof COUNTERS;

/** Counts all of it, at the product's only way to the database, in its server and its folder, and at the receiver. */
export function countersOf(on: {
  readonly proxy: DatabaseProxy;
  readonly watch: Watch;
  readonly receiver: Receiver;
  readonly folder: string;
}): () => Promise<Record<CounterName, number>> {
  return async () => {
    const status = await on.watch.status(...STATUS);
    const [commits = 0, toDatabase = 0, fromDatabase = 0, redo = 0] = STATUS.map(
      (name) => status[name],
    );
    const [roundTrips, statements] = [on.proxy.commands(), on.proxy.statements()];
    const toReceiver = await on.receiver.jobs.bytes();
    const binaryLog = await sizeOfBinaryLog(on.folder);
    return {
      ...{ roundTrips, statements, commits, toDatabase, fromDatabase, redo, binaryLog, toReceiver },
    };
  };
}

async function sizeOfBinaryLog(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const logs = files.filter(({ name }) => BINARY_LOG_FILE.test(name));
  const sizes = await Promise.all(logs.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
