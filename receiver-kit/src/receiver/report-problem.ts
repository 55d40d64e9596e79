import { VerificationError } from "../verification-error.ts";
import type { Problem } from "./problem.ts";

/** Tells the receiver's author of a problem; what the telling throws does not change the answer. */
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

/** Writes one line, with the stack only where code has to be mended. */
function logProblem({ status, error }: Problem): void {
  const text = error instanceof VerificationError ? `${error.reason}: ${error.message}` : error;
  console.error(`receiver-kit answered ${status}:`, text);
}
