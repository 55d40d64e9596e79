import { VerificationError } from "../verification-error.ts";
import type { Problem } from "./problem.ts";

/** Calls `onProblem`, and only logs its failure. The answer does not wait, so callers may ignore the promise. */
export async function reportProblem(
  options: { readonly onProblem?: ((problem: Problem) => unknown) | undefined },
  problem: Problem,
): Promise<void> {
  try {
    await (options.onProblem ?? logProblem)(problem);
  } catch (error) {
    console.error(`receiver-kit: onProblem failed: ${textFromError(error)}`);
  }
}

function logProblem({ status, error }: Problem): void {
  console.error(`receiver-kit answered ${status}: ${textFromError(error)}`);
}

/**
 * Returns a `VerificationError` as one line, and any other error as its stack and its cause's message. Other properties
 * stay out of logs, because they can hold a supporter's data: `mysql2` keeps the statement, and `pg` the failing row.
 */
function textFromError(error: unknown): string {
  if (error instanceof VerificationError) return `${error.reason}: ${error.message}`;
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
