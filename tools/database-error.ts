import { messageOf } from "@activity/runtime/error-message";

/** Explains in one sentence why the database failed, and what to do. */
export function databaseSentence(error: Error): string {
  if ("code" in error && error.code === "ER_NO_SUCH_TABLE") {
    return "The database has no tables yet: start the service on it once, then try again.";
  }
  return `The database failed: ${messageOf(error)}`;
}
