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
    console.error("receiver-kit: onProblem failed:", error);
  }
}

/** Writes a `VerificationError` as one line, and any other error with its stack. */
function logProblem({ status, error }: Problem): void {
  const text = error instanceof VerificationError ? `${error.reason}: ${error.message}` : error;
  console.error(`receiver-kit answered ${status}:`, text);
}
