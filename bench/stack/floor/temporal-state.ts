import { DatabaseSync } from "node:sqlite";

/** Reads Temporal's synced state from its file, beside the server that writes it. */
export type TemporalState = {
  /**
   * Counts what sleeps: the timers of workflows, and `deliver`s whose start is delayed. The timers of a
   * workflow that was terminated stay, so only the difference between two counts says something.
   */
  countAsleep(): number;
  close(): void;
};

const RUNNING = 1;
const TIMERS = "SELECT COUNT(*) AS count FROM timer_info_maps";
const DELAYED = `SELECT COUNT(*) AS count FROM executions_visibility
  WHERE workflow_type_name = 'deliver' AND status = ${RUNNING} AND execution_time > start_time`;

/** Opens the state of a server that runs on SQLite. The client's API counts workflows, but no timers. */
export function openTemporalState(file: string): TemporalState {
  const database = new DatabaseSync(file, { readOnly: true });
  const statements = [TIMERS, DELAYED].map((sql) => database.prepare(sql));
  return {
    countAsleep: () =>
      statements.reduce((sum, statement) => sum + Number(statement.get()?.count), 0),
    close: () => database.close(),
  };
}
