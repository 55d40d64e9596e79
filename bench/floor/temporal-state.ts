import { DatabaseSync } from "node:sqlite";

const RUNNING = 1;
/** What sleeps: the timers of workflows, and `deliver`s whose start is delayed. */
const ASLEEP = `SELECT (SELECT COUNT(*) FROM timer_info_maps) + (SELECT COUNT(*) FROM executions_visibility
  WHERE workflow_type_name = 'deliver' AND status = ${RUNNING} AND execution_time > start_time) AS count`;

/**
 * Opens the synced state of a Temporal that runs on SQLite, beside the server that writes it: Temporal's own API counts
 * no timers. Those of a workflow that was terminated stay, so only the difference of two counts says something.
 */
export function openTemporalState(file: string): { countAsleep(): number; close(): void } {
  const database = new DatabaseSync(file, { readOnly: true });
  const statement = database.prepare(ASLEEP);
  return {
    countAsleep: () => Number(statement.get()?.count),
    close: () => database.close(),
  };
}
