import { messageOf } from "@activity/runtime/error-message";
import { createRepeats, type Log } from "@activity/runtime/log";
import { PROCESS_TIMING } from "@activity/runtime/timing";

/** Logs a message with the reason of an outage. */
export type OutageLog = (
  message: string,
  error: unknown,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** Creates a log that writes each message at most once in ten seconds. `nowMs` is a monotonic clock. */
export function createOutageLog(log: Log, nowMs = PROCESS_TIMING.nowMs): OutageLog {
  const isRepeated = createRepeats(nowMs);
  return (message, error, fields) => {
    if (!isRepeated(message)) log.warn(message, { ...fields, reason: reasonOf(error) });
  };
}

/** Returns the reason. Of a server's error this is only the code: the message can hold values or a Redis key. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return messageOf(cause);
  const [code, errno] = ["code" in cause && cause.code, "errno" in cause && cause.errno];
  if (code || errno) return `${code || errno}`;
  // Redis begins an error with its code. Before 7.0 the code of an error in a script follows a hyphen.
  const [, word] = /^(?:ERR .*: -)?(\S+)/.exec(cause.message) ?? [];
  return cause.name === "ReplyError" ? (word ?? "") : messageOf(cause);
}
