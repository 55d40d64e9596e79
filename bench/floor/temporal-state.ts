import { DatabaseSync } from "node:sqlite";

const RUNNING = 1;
/** Sleeping workflows: those with a timer, and `deliver`s with a delayed start. */
const ASLEEP = `SELECT (SELECT COUNT(*) FROM timer_info_maps) + (SELECT COUNT(*) FROM executions_visibility
  WHERE workflow_type_name = 'deliver' AND status = ${RUNNING} AND execution_time > start_time) AS count`;

/**
 * Opens the synced SQLite state of a Temporal while its server runs, because Temporal's API cannot count timers. Timers
 * of terminated workflows stay, so only the difference of two counts is meaningful.
 */
export function openTemporalState(file: string): { countAsleep(): number; close(): void } {
  const database = new DatabaseSync(file, { readOnly: true });
  const statement = database.prepare(ASLEEP);
  return { countAsleep: () => Number(statement.get()?.count), close: () => database.close() };
}
