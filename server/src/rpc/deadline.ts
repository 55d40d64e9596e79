import { Code, ConnectError } from "@connectrpc/connect";

/** Node lets a longer one end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The time that a call has, and what ends it sooner. */
export type Deadline = {
  /** Aborted when the time is over or the caller gone. */
  readonly signal: AbortSignal;
  /** Rejects then, and never resolves. */
  readonly expired: Promise<never>;
  /** The caller went away. */
  cancel(): void;
  clear(): void;
};

/** A deadline as the wire has it: past `timeoutMs` the caller gets DEADLINE_EXCEEDED. */
export function createDeadline(timeoutMs: number | undefined): Deadline {
  const controller = new AbortController();
  const { promise: expired, reject } = Promise.withResolvers<never>();
  expired.catch(() => {});
  const end = (reason: ConnectError) => {
    controller.abort(reason);
    reject(reason);
  };
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => end(new ConnectError("too late", Code.DeadlineExceeded)),
          Math.min(timeoutMs, MAX_TIMER_MS),
        );
  return {
    signal: controller.signal,
    expired,
    cancel: () => end(new ConnectError("the caller went away", Code.Canceled)),
    clear: () => clearTimeout(timer),
  };
}
