import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { readTemporalCost } from "../deliver/measure/temporal-cost.ts";
import type { CostStack } from "./cost-stack.ts";

/** What the files of the binary log are called. */
export const BINARY_LOG = "bench-binlog";
const BINARY_LOG_FILE = new RegExp(`^${BINARY_LOG}\\.\\d+$`);

/** What is counted, each so that a difference is what was used. */
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
export type Counter = keyof typeof COUNTERS;

/** What some donations cost altogether. */
export type Used = Readonly<Record<Counter, number>> & {
  readonly donations: number;
  /** Temporal's. */
  readonly actions: number;
};

type StatusRow = { Variable_name: string; Value: string };

/** Counts what `work` uses, which writes as many `donations` and returns when all is recorded. */
export async function countDuring(
  stack: CostStack,
  donations: number,
  work: () => Promise<void>,
): Promise<Used> {
  const sinceMs = Date.now();
  const before = await read(stack);
  await work();
  const after = await read(stack);
  const names = Object.keys(COUNTERS) as Counter[]; // it has no other keys
  const used = names.map((name) => [name, after[name] - before[name]] as const);
  const { actions } = await readTemporalCost(stack.temporal, sinceMs);
  return { donations, actions, ...(Object.fromEntries(used) as Record<Counter, number>) };
}

async function read({
  store,
  proxy,
  watch,
  receiver,
}: CostStack): Promise<Record<Counter, number>> {
  const rows = await watch.rows<StatusRow>(
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_commit', 'Bytes_received', 'Bytes_sent', 'Innodb_os_log_written')",
  );
  const status = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Number(Value)]));
  const of = (name: string) => status.get(name) ?? Number.NaN;
  return {
    roundTrips: proxy.commands(),
    statements: proxy.statements(),
    commits: of("Com_commit"),
    toDatabase: of("Bytes_received"),
    fromDatabase: of("Bytes_sent"),
    redo: of("Innodb_os_log_written"),
    binaryLog: await sizeOfBinaryLog(store.folder),
    toReceiver: receiver.receivedBytes(),
  };
}

async function sizeOfBinaryLog(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const logs = files.filter(({ name }) => BINARY_LOG_FILE.test(name));
  const sizes = await Promise.all(
    logs.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
