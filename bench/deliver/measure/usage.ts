import type { Usage as WatchedUsage } from "../../measure/watch.ts";

/** The processes of a run. The receiver and what writes the events are this one. */
export const ProcessName = {
  Product: "product",
  FloorWorker: "floor's worker",
  Temporal: "Temporal",
  Database: "database",
  Load: "receiver and load",
} as const;
export type ProcessName = (typeof ProcessName)[keyof typeof ProcessName];
export type Pids = Readonly<Record<ProcessName, number>>;

/** What was used between two moments. */
export type Usage = WatchedUsage<ProcessName>;
