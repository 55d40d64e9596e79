import { setTimeout as wait } from "node:timers/promises";

/** Asks again and again until it is so. */
export async function until(
  isSo: () => Promise<boolean> | boolean,
  everyMs: number,
): Promise<void> {
  while (!(await isSo())) await wait(everyMs);
}
