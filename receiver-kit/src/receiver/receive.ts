import { handleOnce } from "../once/handle-once.ts";
import type { RawBody } from "../raw-body.ts";
import type { HeadersInput } from "../signed-headers.ts";
import { macsFromSecrets } from "../signing-secret.ts";
import { verify } from "../verify.ts";
import { type AnswerStatus, InProgressError, type Problem, problemFromError } from "./problem.ts";
import { DEFAULT_BODY_LIMIT_BYTES, type ReceiverOptions } from "./receiver-options.ts";
import { reportProblem } from "./report-problem.ts";

/** Receives one delivery and returns the status to answer: 204 only if the work is done. Never rejects. */
export type Receive = (
  headers: HeadersInput,
  readBody: (limitBytes: number) => RawBody | Promise<RawBody>,
) => Promise<AnswerStatus>;

/**
 * Creates a function that receives deliveries: it reads and verifies each one, and handles its event once. Throws
 * `VerificationError` with the reason `unusable_secret` if a secret is missing or malformed.
 */
export function createReceive<Context>(options: ReceiverOptions<Context>): Receive {
  macsFromSecrets(options?.secrets);
  return async (headers, readBody) => {
    let isVerified = false;
    try {
      const body = await readBody(options.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES);
      const webhookEvent = await verify(body, headers, options);
      isVerified = true;
      const outcome = await handleOnce(options.store, webhookEvent, options.handle);
      if (outcome === "handled" || outcome === "seen_before") return 204;
      throw new InProgressError(`event ${webhookEvent.id}: ${outcome}`);
    } catch (error) {
      // The work may itself verify another delivery, and throw its VerificationError. That error must not end this
      // delivery with 400.
      const isOfWork = isVerified && !(error instanceof InProgressError);
      const problem: Problem = isOfWork ? { status: 500, error } : problemFromError(error);
      void reportProblem(options, problem);
      return problem.status;
    }
  };
}
