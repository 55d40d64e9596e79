import { cpus, release, totalmem } from "node:os";

/** Where and on what a run was measured. */
export type Machine = {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly database: string;
};

/** Says in one line where and on what a run was measured. */
export function machineLine(machine: Machine): string {
  const { date, cpu, cores, memoryGb, system, node, database } = machine;
  return `${date}, ${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}, ${database}`;
}

/** Describes this machine. */
export function describeMachine(database: string): Machine {
  return {
    date: new Date().toISOString(),
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1e9),
    // Of a kernel's name only the version says something of a measurement.
    system: `${process.platform} ${/^\d+(\.\d+)?/.exec(release())?.[0] ?? ""}`.trim(),
    node: process.version,
    database,
  };
}
