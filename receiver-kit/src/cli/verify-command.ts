import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { VerificationError } from "../verification-error.ts";
import { verify } from "../verify.ts";
import { type Command, readSecret, UsageError } from "./command.ts";
import { explainMismatch } from "./explain-mismatch.ts";
import { parseHeadersFile } from "./headers-file.ts";

/** Verifies a delivery from files and shows which check fails. Exits with 1 if a check fails. */
export const verifyCommand: Command = async (args, context) => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      headers: { type: "string" },
      body: { type: "string" },
      secret: { type: "string" },
      at: { type: "string" },
    },
  });
  if (!values.headers || !values.body) throw new UsageError("verify takes --headers and --body");
  const secret = readSecret(values.secret, context);
  const headers = parseHeadersFile(await readFile(values.headers, "utf8"));
  const body = await readFile(values.body);
  const clock = createClock(values.at);
  try {
    const { type, id } = await verify(body, headers, { secrets: secret, clock });
    context.print(`✓ verified: ${JSON.stringify(type)}, id ${JSON.stringify(id)}`);
    return 0;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    context.print(`✗ ${error.reason}: ${error.message}`);
    const hint = await explainFailure(error, { body, headers, secret, clock });
    if (hint) context.print(`  ${hint}`);
    return 1;
  }
};

function createClock(atSeconds: string | undefined): () => number {
  if (atSeconds === undefined) return Date.now;
  if (!/^\d+$/.test(atSeconds)) throw new UsageError("--at is Unix time in seconds");
  return () => Number(atSeconds) * 1000;
}

type Attempt = Parameters<typeof explainMismatch>[0];

async function explainFailure(
  { reason }: VerificationError,
  attempt: Attempt,
): Promise<string | undefined> {
  if (reason === "signature_mismatch") return explainMismatch(attempt);
  if (reason !== "timestamp_too_old" && reason !== "timestamp_too_new") return undefined;
  return "to verify a delivery of another time, pass its Service-Timestamp with --at";
}
