import { isDeadlock } from "../../server/src/database/outage.ts";
import type { TestStack } from "../harness/stack.ts";

/** Resets the limits, which these tests do not cover. If this deadlocks with the core, the next call resets them. */
export async function emptyWindows({ database }: TestStack): Promise<void> {
  await database.query("DELETE FROM rate_window").catch((error) => {
    if (!isDeadlock(error)) throw error;
  });
}
