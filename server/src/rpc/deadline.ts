import { Code, ConnectError } from "@connectrpc/connect";

/** The longest delay of a Node timer. A longer timer ends at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type Deadline = {
  /** Aborted when the time is over or the caller has gone away. */
  readonly signal: AbortSignal;
  /** Rejects when `signal` is aborted, and never resolves. */
  readonly expired: Promise<never>;
  /** Ends the call because its caller has gone away. */
  cancel(): void;
  clear(): void;
};

/** Creates a deadline as on a wire: after `timeoutMs` the caller gets DEADLINE_EXCEEDED. */
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
