import { BodyTooLargeError } from "../../receiver/problem.ts";
import { VerificationError } from "../../verification-error.ts";

/** The body in the events of API Gateway (both payload versions), function URLs and load balancers. */
export interface LambdaBody {
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

/** Returns the bytes of a Lambda event's body. */
export function readRawBody({ body, isBase64Encoded }: LambdaBody, limitBytes: number): Uint8Array {
  if (body === undefined || body === null) return new Uint8Array();
  if (typeof body !== "string") {
    throw new VerificationError("body_not_raw", "a middleware parsed event.body; call this first");
  }
  const encoding = isBase64Encoded ? "base64" : "utf8";
  const length = Buffer.byteLength(body, encoding);
  if (length > limitBytes) throw new BodyTooLargeError(`${length} bytes`);
  return Buffer.from(body, encoding);
}
