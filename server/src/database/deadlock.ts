import { isDeadlock } from "./outage.ts";

const RETRIES = 5;

/** Runs a transaction, and again when it lost a deadlock, five times at most. */
export async function againAfterDeadlock<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isDeadlock(error) || attempt === RETRIES) throw error;
    }
  }
}
