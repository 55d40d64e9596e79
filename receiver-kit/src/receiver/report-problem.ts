import { VerificationError } from "../verification-error.ts";
import type { Problem } from "./problem.ts";

/** Calls `onProblem`. An error that it throws does not change the answer. */
export function reportProblem(
  options: { readonly onProblem?: ((problem: Problem) => void) | undefined },
  problem: Problem,
): void {
  try {
    (options.onProblem ?? logProblem)(problem);
  } catch (error) {
    console.error("receiver-kit: onProblem failed:", error);
  }
}

/** Writes a `VerificationError` as one line, and any other error with its stack. */
function logProblem({ status, error }: Problem): void {
  const text = error instanceof VerificationError ? `${error.reason}: ${error.message}` : error;
  console.error(`receiver-kit answered ${status}:`, text);
}
