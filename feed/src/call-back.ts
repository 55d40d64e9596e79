/**
 * Calls a function of the user, and logs its failure. Followers share requests, so the failure of one follower's
 * function must not end the others. No follower waits for the call, so callers may ignore the promise.
 */
export async function callBack(name: string, call: () => unknown): Promise<void> {
  try {
    await call();
  } catch (error) {
    console.error(`@activity/feed: ${name} failed: ${textFromError(error)}`);
  }
}

/**
 * Returns the stacks of an error and its cause. Other properties stay out of logs, because they can hold a supporter's
 * data: `mysql2` keeps the statement, and `pg` the failing row.
 */
function textFromError(error: unknown): string {
  if (typeof error !== "object") return String(error);
  // Some libraries throw objects that are no errors but have a message.
  const { message = "no message", stack = message, cause } = (error ?? {}) as Partial<Error>;
  return cause instanceof Error ? `${stack}\n  cause: ${cause.stack ?? cause.message}` : stack;
}
