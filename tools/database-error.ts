/** Says in one sentence why the database did not do what a tool asked, and what to do next. */
export function databaseSentence(error: Error): string {
  if ("code" in error && error.code === "ER_NO_SUCH_TABLE") {
    return "The database has no tables yet: start the service on it once, then try again.";
  }
  return `The database did not answer: ${error.message}`;
}
