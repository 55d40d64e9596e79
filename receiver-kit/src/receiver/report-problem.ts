import { VerificationError } from "../verification-error.ts";
import type { Problem } from "./problem.ts";

/** Calls `onProblem`, and logs its failure. The promise never rejects, and the answer does not wait for it. */
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
 * Returns a `VerificationError` as one line, and any other error as its own stack and its cause's stack. Other
 * properties stay out of logs, because they can hold a supporter's data: `mysql2` keeps the statement, and `pg` the
 * failing row.
 */
function textFromError(error: unknown): string {
  if (error instanceof VerificationError) return `${error.reason}: ${error.message}`;
  if (typeof error !== "object") return String(error);
  // Some libraries throw objects that are no errors but have a message.
  const { message = "no message", stack = message, cause } = (error ?? {}) as Partial<Error>;
  return cause instanceof Error ? `${stack}\n  cause: ${cause.stack ?? cause.message}` : stack;
}
