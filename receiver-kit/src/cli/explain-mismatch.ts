import { createHmac } from "node:crypto";
import { type HeadersInput, readSignedHeaders } from "../signed-headers.ts";
import { verify } from "../verify.ts";

interface Attempt {
  readonly body: Buffer;
  readonly headers: HeadersInput;
  readonly secret: string;
  readonly clock: () => number;
}

/** Returns a hint for a signature that does not match, by trying common mistakes. */
export async function explainMismatch(attempt: Attempt): Promise<string> {
  for (const [change, hint] of BODY_MISTAKES) {
    const body = Buffer.from(change(attempt.body.toString("utf8")));
    const options = { secrets: attempt.secret, clock: attempt.clock };
    const isVerified = await verify(body, attempt.headers, options).then(
      () => true,
      () => false,
    );
    if (isVerified) return hint;
  }
  const { eventId, timestamp, signature } = readSignedHeaders(attempt.headers);
  const bareSecret = attempt.secret.slice("whsec_".length);
  for (const key of [bareSecret, Buffer.from(bareSecret, "base64")]) {
    const mac = createHmac("sha256", key).update(`${timestamp}.${eventId}.`).update(attempt.body);
    if (signature === `v1=${mac.digest("hex")}`) {
      return "the sender's key is without whsec_; the whole secret text is the key";
    }
  }
  return "compare the secret, and keep the body's bytes exactly as received";
}

const BODY_MISTAKES: readonly (readonly [(text: string) => string, string])[] = [
  [(text) => text.replace(/\r?\n$/, ""), "the file has a line end that the body did not have"],
  [(text) => text.replaceAll("\r\n", "\n"), "the file's line ends were changed to CR LF"],
  [printAgain, "the body was parsed and printed again; its bytes are not the received ones"],
];

function printAgain(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
