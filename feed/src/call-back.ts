/**
 * Calls a function of the user, and logs its failure. Followers share requests, so the failure of one follower's
 * function must not end the others. No follower waits for it, so the promise may be ignored.
 */
export async function callBack(name: string, call: () => unknown): Promise<void> {
  try {
    await call();
  } catch (error) {
    console.error(`@activity/feed: ${name} failed: ${textFromError(error)}`);
  }
}

/**
 * Returns an error's stack and its cause's message. Other properties stay out of logs, because they can hold a
 * supporter's data: `mysql2` keeps the statement, and `pg` the failing row.
 */
function textFromError(error: unknown): string {
  if (!(error instanceof Error)) return messageOf(error);
  const { cause, stack = error.message } = error;
  const isOnlyErrors = error.message === "" && error instanceof AggregateError;
  const text = isOnlyErrors ? `${stack}\n  errors: ${messageOf(error)}` : stack;
  return cause instanceof Error ? `${text}\n  cause: ${messageOf(cause)}` : text;
}

/**
 * Returns the message of anything that was thrown. If a name has several addresses and none answers, Node's error has
 * no message of its own, but an error for each address.
 */
function messageOf(error: unknown): string {
  // `String` throws for an object without a prototype.
  if (typeof error !== "object" || error === null) return String(error);
  const { message, errors } = error as Partial<AggregateError>;
  if (typeof message === "string" && message !== "") return message;
  if (Array.isArray(errors) && errors.length > 0) return errors.map(messageOf).join("; ");
  return error instanceof Error ? error.name : "an object without a message";
}
