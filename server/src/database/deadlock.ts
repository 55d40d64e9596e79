import { isDeadlock } from "./outage.ts";

const RETRIES = 5;

/** Runs a transaction. Repeats it up to five times if it loses a deadlock. */
export async function retryAfterDeadlock<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isDeadlock(error) || attempt === RETRIES) throw error;
    }
  }
}
