/**
 * Returns an error's message for people. If a name has several addresses and none answers, Node's error has no message
 * of its own, but an error for each address.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return `${error}`;
  if (error.message !== "" || !(error instanceof AggregateError))
    return error.message || error.name;
  return error.errors.map(messageOf).join("; ");
}
