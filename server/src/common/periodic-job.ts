import type { Log } from "@activity/runtime/log";
import { isOutage } from "../database/outage.ts";
import { createOutageLog } from "./outage-log.ts";

/**
 * Runs a job every `intervalMs`, never twice at a time. Returns a function that stops it. A failure is logged under the
 * job's name, but not after the job was stopped. An outage of the database is a warning, because the job makes up for
 * it the next time.
 */
export function startPeriodicJob(
  name: string,
  intervalMs: number,
  log: Log,
  job: () => Promise<void>,
): () => void {
  const logOutage = createOutageLog(log);
  let isRunning = false;
  let isStopped = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await job();
    } catch (cause) {
      if (isOutage(cause) && !isStopped) logOutage(`${name} waits for the database`, cause);
      else if (!isStopped) log.error(`${name} failed`, { cause });
    }
    isRunning = false;
  }, intervalMs);
  timer.unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
