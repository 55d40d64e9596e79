import { type AttemptOutcome, type AttemptResult, outcomeOf } from "./attempt-outcome.ts";
import { type ConnectionPool, createConnectionPool } from "./connection-pool.ts";
import { createNameResolver, type ResolveName } from "./name-resolver.ts";
import { type PostRequest, postOnce } from "./post-once.ts";
import { resolveTarget, type TargetRules } from "./target-guard.ts";

/** One attempt, as it is recorded for the owner. ADR 0027 */
export type AttemptReport = {
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
  /** The receiver's status; `undefined` when none was read. */
  readonly status: number | undefined;
  /** What failed, in words without URL, name or address; `undefined` when there was an answer. */
  readonly detail: string | undefined;
  /** The first 1,024 bytes of the answer's body, if there was an answer. */
  readonly bodyStart: Buffer | undefined;
};

/** What attempts need; everything has the product's own value. */
export type SenderOptions = {
  readonly resolve?: ResolveName;
  /** Development and tests only: `host:port` pairs that stand for this machine. */
  readonly allowedLoopback?: ReadonlySet<string>;
  /** Development and tests only: a CA (PEM) trusted beside the public ones. */
  readonly extraCa?: string;
  readonly timeoutMs?: number;
};

/** Makes attempts, and keeps their connections for the next ones. */
export type Sender = {
  readonly attempt: (request: PostRequest) => Promise<AttemptReport>;
  readonly close: () => void;
};

/** The whole attempt, from the look-up of the name to the end of the answer. §6.4 */
const ATTEMPT_TIMEOUT_MS = 10_000;

/** Creates the sender of a worker. */
export function createSender(options: SenderOptions = {}): Sender {
  const { resolve = createNameResolver(), allowedLoopback, extraCa } = options;
  const { timeoutMs = ATTEMPT_TIMEOUT_MS } = options;
  const pool = createConnectionPool(extraCa);
  return {
    attempt: async (request) => {
      const startMs = performance.now();
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), timeoutMs);
      try {
        const rules = { resolve, allowedLoopback };
        const result = await attemptUntil(deadline.signal, request, rules, pool);
        return reportOf(result, performance.now() - startMs);
      } finally {
        clearTimeout(timer);
      }
    },
    close: pool.close,
  };
}

async function attemptUntil(
  deadline: AbortSignal,
  request: PostRequest,
  rules: TargetRules,
  pool: ConnectionPool,
): Promise<AttemptResult> {
  const target = await Promise.race([resolveTarget(request.url, rules), aborted(deadline)]);
  if (!target) return { kind: "timeout", detail: "the name was not resolved in time" };
  if (target.kind !== "safe") return target;
  return postOnce(request, { target, pool, deadline });
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

function reportOf(result: AttemptResult, durationMs: number): AttemptReport {
  return {
    outcome: outcomeOf(result),
    durationMs: Math.round(durationMs),
    status: "status" in result ? result.status : undefined,
    detail: "detail" in result ? result.detail : undefined,
    bodyStart: "bodyStart" in result ? result.bodyStart : undefined,
  };
}
