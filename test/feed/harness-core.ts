import { isDeadlock } from "../../server/src/database/outage.ts";
import type { TestStack } from "../harness/stack.ts";

/** Resets the limits, which these tests do not cover. If a deadlock with the core stops it, the next call does it. */
export async function emptyWindows({ database }: TestStack): Promise<void> {
  await database.query("DELETE FROM rate_window").catch((error) => {
    if (!isDeadlock(error)) throw error;
  });
}
