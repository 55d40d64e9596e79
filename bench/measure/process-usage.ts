import { readFile } from "node:fs/promises";
import type { Counter } from "./figures.ts";

/** Processes by their name in a report. A name may stand for several. */
export type Pids = Readonly<Record<string, number | readonly number[]>>;

/** Linux counts processor time in hundredths of a second in /proc. */
const MS_PER_TICK = 10;
/** Positions of user and system time after the command's closing bracket (proc(5)). */
const [USER_TIME, SYSTEM_TIME] = [11, 12];

/** Counts the processor milliseconds (user and system) of named processes, as `cpu NAME`. */
export function cpuOf(pids: Pids): Counter {
  return async () => {
    const used = Object.entries(pids).map(async ([name, some]) => {
      const each = await Promise.all([some].flat().map(cpuMsOf));
      return [`cpu ${name}`, each.reduce((sum, one) => sum + one, 0)];
    });
    return Object.fromEntries(await Promise.all(used));
  };
}

/** Reads a process's resident memory in megabytes (10^6 bytes): now and at its peak. */
export async function readMemory(pid: number): Promise<{ nowMb: number; peakMb: number }> {
  const status = await readFile(`/proc/${pid}/status`, "latin1");
  const megabytes = (name: string) =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024) / 1e6;
  return { nowMb: megabytes("VmRSS"), peakMb: megabytes("VmHWM") };
}

async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) * MS_PER_TICK;
}
