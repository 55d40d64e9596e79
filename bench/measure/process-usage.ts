import { readFile } from "node:fs/promises";

/** Linux counts processor time in hundredths of a second for every reader of /proc. */
const TICKS_PER_SECOND = 100;
/** Places of user and system time after the command's closing bracket (proc(5)). */
const USER_TIME = 11;
const SYSTEM_TIME = 12;

/** Returns the processor seconds that processes have used so far, user and system. */
export async function readCpuSeconds(pids: readonly number[]): Promise<number> {
  const seconds = await Promise.all(pids.map(readOne));
  return seconds.reduce((sum, one) => sum + one, 0);
}

async function readOne(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) / TICKS_PER_SECOND;
}

/** Resident memory in megabytes (10^6 bytes): of each process now, and its highest so far. */
export type Memory = { readonly nowMb: number; readonly peakMb: number };

/** Reads the resident memory of processes, each by itself. */
export function readMemory(pids: readonly number[]): Promise<Memory[]> {
  return Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, "latin1");
      return { nowMb: megabytesOf(status, "VmRSS"), peakMb: megabytesOf(status, "VmHWM") };
    }),
  );
}

function megabytesOf(status: string, name: string): number {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1];
  return (Number(kibibytes) * 1024) / 1e6;
}
