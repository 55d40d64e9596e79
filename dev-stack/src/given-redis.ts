import { messageOf } from "@activity/runtime/error-message";
import { readFirstBytes } from "./first-bytes.ts";
import { StackError } from "./stack-error.ts";

const DEFAULT_PORT = 6379;
const ANSWER_MILLISECONDS = 10_000;

/** Checks that a server answers at a valid REDIS_URL. Does not ask a cluster, or a server with TLS. */
export async function checkGivenRedis(text: string, variable: string): Promise<void> {
  const url = new URL(text);
  if (url.protocol !== "redis:") return;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port) || DEFAULT_PORT;
  try {
    // A server that requires a password answers too.
    await readFirstBytes(host, port, ANSWER_MILLISECONDS, "PING\r\n");
  } catch (error) {
    throw new StackError(
      `${variable} points at ${host}:${port}, where no Redis answers (${messageOf(error)}): start that server, correct the URL, or unset it.`,
    );
  }
}
