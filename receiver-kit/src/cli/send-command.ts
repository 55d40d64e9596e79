import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { signedHeaders } from "../sign.ts";
import { type Command, type CommandContext, readSecret, UsageError } from "./command.ts";
import { createTrials, type Trial } from "./trials.ts";

const TIMEOUT_MS = 10_000;
const STATUS = /^\d{3} /;
/** Error codes for a certificate that Node does not trust. */
const UNTRUSTED = /SELF_SIGNED|LEAF_SIGNATURE|ISSUER_CERT/;

/**
 * Sends good and bad deliveries to a receiver and shows its answers. With `--body`, signs and sends only that event.
 * Exits with 1 if an answer is wrong.
 */
export const sendCommand: Command = async (args, context) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { secret: { type: "string" }, body: { type: "string" } },
  });
  const url = parseUrl(positionals);
  const secret = readSecret(values.secret, context);
  if (values.body !== undefined) return sendBody(url, values.body, secret, context);
  const trials = await createTrials(secret);
  let wrong = 0;
  for (const trial of trials) {
    const answer = await attempt(url, trial);
    const isRight = trial.expected === "2xx" ? answer.startsWith("2") : /^4\d\d/.test(answer);
    if (!isRight) wrong += 1;
    const isAnswered = STATUS.test(answer);
    // `why` tells what follows from a wrong answer. Without an answer, `why` could be false, because the receiver may
    // have refused the delivery.
    const why = isAnswered ? `: ${trial.why}` : "";
    const outcome = isRight ? "" : `, expected ${trial.expected}${why}`;
    context.print(`${isRight ? "✓" : "✗"} ${trial.name.padEnd(36)} ${answer}${outcome}`);
    if (!isAnswered && trial === trials[0]) {
      context.print(`No answer came, so nothing more is sent. ${adviceAfter(answer)}`);
      return 1;
    }
  }
  context.print(
    wrong === 0
      ? "The receiver passed all checks."
      : `The receiver failed ${wrong} of ${trials.length} checks.`,
  );
  return wrong === 0 ? 0 : 1;
};

async function sendBody(
  url: URL,
  file: string,
  secret: string,
  { print }: CommandContext,
): Promise<number> {
  // This reads 0 and not process.stdin.fd: using `process.stdin` makes a pipe non-blocking, so the read would not wait
  // for a slow program.
  const body = readFileSync(file === "-" ? 0 : file, "utf8");
  const eventId = readEventId(body);
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders({ secret, eventId, body, timestampSeconds });
  const answer = await attempt(url, { headers, body });
  const isRight = answer.startsWith("2");
  print(`${isRight ? "✓" : "✗"} ${JSON.stringify(eventId)} ${answer}`);
  if (!STATUS.test(answer)) print(adviceAfter(answer));
  return isRight ? 0 : 1;
}

function adviceAfter(failure: string): string {
  if (UNTRUSTED.test(failure)) {
    return "Node does not trust the certificate. For a test set NODE_EXTRA_CA_CERTS to its PEM file, such as cert.pem. In production serve the whole chain of a public CA.";
  }
  return "Check the URL, and that the receiver runs and answers within 10 seconds.";
}

function readEventId(body: string): string {
  try {
    const { id } = JSON.parse(body);
    if (typeof id === "string") return id;
  } catch {
    // A body that is not JSON has no id, so this throws below.
  }
  throw new UsageError("--body takes a file with an event's JSON, or - for the standard input");
}

function parseUrl(positionals: readonly string[]): URL {
  const [text] = positionals;
  // "localhost:3000" is a URL too, with the scheme "localhost:". So the scheme is checked.
  const isWeb = text !== undefined && URL.canParse(text) && /^https?:/.test(new URL(text).protocol);
  if (positionals.length !== 1 || !isWeb) {
    throw new UsageError("send takes one URL, such as http://127.0.0.1:3000/webhooks");
  }
  return new URL(text);
}

/** Sends a delivery as the real sender does: at most ten seconds, no redirects. Returns the status or the failure. */
async function attempt(
  url: URL,
  { headers, body }: Pick<Trial, "headers" | "body">,
): Promise<string> {
  const startedMs = performance.now();
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return `${response.status} in ${Math.round(performance.now() - startedMs)} ms`;
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    const { cause } = error;
    if (!(cause instanceof Error)) return error.message;
    return "code" in cause ? String(cause.code) : cause.message;
  }
}
