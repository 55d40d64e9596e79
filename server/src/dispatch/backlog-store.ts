import { withDeadline } from "../database/deadline.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { DeliveryState } from "./delivery-state.ts";
import { Task } from "./outbox-store.ts";

/** The most rows that each query counts, so that a large backlog stays cheap to measure. */
export const MAX_ROWS = 10_000;
/** How late a retry must be to count as overdue. Normally a due retry begins within seconds. */
const OVERDUE_MICROS = 60_000_000;
/** The deadline of each query: shorter than a scraper's timeout for the whole scrape. */
const DEADLINE_MS = 3_000;

/** Outbox entries and overdue retries, with times by the database's clock. */
export type Backlog = {
  readonly firstAttempts: number;
  readonly beginRetries: number;
  /** The oldest counted delivery whose first attempt waits, manual retries excluded. */
  readonly oldestId: string | undefined;
  readonly overdue: number;
  /** When the longest overdue retry was due, in microseconds since 1970. */
  readonly overdueSince: number | undefined;
  readonly nowMicros: number;
};

type EntriesRow = RowDataPacket & { entries: number; oldest_id: string | null };
type RetriesRow = RowDataPacket & { overdue: number; overdue_since: number | null };
type ClockRow = RowDataPacket & { now_micros: number };

/** Counts each task separately, so that many entries of one task never hide those of the other. */
const entriesOf = (task: Task) =>
  `SELECT COUNT(*) AS entries, MIN(CASE WHEN run = 1 THEN delivery_id END) AS oldest_id
  FROM (
    SELECT run, delivery_id FROM outbox_entry FORCE INDEX (outbox_entry_queue)
    WHERE task = ${task} LIMIT ${MAX_ROWS}
  ) AS counted`;

const RETRIES = `SELECT COUNT(*) AS overdue, MIN(next_attempt_at) AS overdue_since
  FROM (
    SELECT next_attempt_at FROM delivery FORCE INDEX (delivery_due)
    WHERE state = ${DeliveryState.Retrying} AND next_attempt_at < ${NOW_MICROS} - ${OVERDUE_MICROS}
    ORDER BY next_attempt_at LIMIT ${MAX_ROWS}
  ) AS due`;

const CLOCK = `SELECT ${NOW_MICROS} AS now_micros`;

/** Reads at most 30,000 rows, and rejects after three seconds. */
export async function readBacklog(pool: Pool): Promise<Backlog> {
  const read = <Row extends RowDataPacket>(sql: string) =>
    withDeadline<Row[]>(pool, DEADLINE_MS, (connection, answer) =>
      connection.query<Row[]>(sql, answer),
    );
  // Four queries, because vtgate cannot join counts of several shards.
  const [[attempts], [begins], [retries], [clock]] = await Promise.all([
    read<EntriesRow>(entriesOf(Task.Attempt)),
    read<EntriesRow>(entriesOf(Task.BeginRetries)),
    read<RetriesRow>(RETRIES),
    read<ClockRow>(CLOCK),
  ]);
  return {
    firstAttempts: attempts?.entries ?? 0,
    beginRetries: begins?.entries ?? 0,
    oldestId: attempts?.oldest_id ?? undefined,
    overdue: retries?.overdue ?? 0,
    overdueSince: retries?.overdue_since ?? undefined,
    nowMicros: clock?.now_micros ?? 0,
  };
}
