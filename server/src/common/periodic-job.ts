import type { Log } from "@activity/runtime/log";
import { isOutage } from "../database/outage.ts";

/**
 * Does a job every so often until the returned function is called, never twice at a time. A failed
 * run is logged under the job's name. It is not logged when the database was out of reach, because
 * the next run makes up for it, nor when the job was stopped meanwhile.
 */
export function startPeriodicJob(
  name: string,
  intervalMs: number,
  log: Log,
  job: () => Promise<void>,
): () => void {
  let isRunning = false;
  let isStopped = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await job();
    } catch (cause) {
      if (!isStopped && !isOutage(cause)) log.error(`${name} failed`, { cause });
    }
    isRunning = false;
  }, intervalMs);
  timer.unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
