import { PROCESS_TIMING, type Timing } from "@activity/runtime/timing";
import { type AttemptOutcome, type AttemptResult, outcomeOf } from "./attempt-outcome.ts";
import { createConnectionPool } from "./connection-pool.ts";
import type { EgressProxy } from "./egress-proxy.ts";
import { createNameResolver, type ResolveName } from "./name-resolver.ts";
import { type PostRequest, type PostResult, postOnce } from "./post-once.ts";
import { resolveTarget, type SafeTarget, type TargetRules } from "./target-guard.ts";

/** An attempt's result, as it is recorded for the owner. ADR 0027 */
export type AttemptReport = {
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
  /** The receiver's status; `undefined` when none was read. */
  readonly status: number | undefined;
  /** The reason of a failure, without URL, name or address. `undefined` if there was an answer. */
  readonly detail: string | undefined;
  /** The first header lines of the answer, at most 1,024 characters, if there was an answer. */
  readonly headers: string | undefined;
  /** The first 1,024 bytes of the answer's body, if there was an answer. */
  readonly bodyStart: Buffer | undefined;
};

/** The settings of a sender. Each one has a default. Only tests set `resolve` and `timeoutMs`. */
export type SenderOptions = {
  readonly resolve?: ResolveName;
  /** Development and tests only: `host:port` pairs that resolve to this machine. */
  readonly allowedLoopback?: ReadonlySet<string>;
  /** Development and tests only: a CA (PEM) that is trusted in addition to the public ones. */
  readonly extraCa?: string;
  /** The proxy of every connection. Without it connections are direct. */
  readonly proxy?: EgressProxy | undefined;
  readonly timeoutMs?: number;
};

/** Sends one POST to a checked target and reads the answer, until `deadline` is aborted. */
export type Post = (
  request: PostRequest,
  scope: { readonly target: SafeTarget; readonly deadline: AbortSignal },
) => Promise<PostResult>;

/** The dependencies of `createAttempt`. */
export type AttemptParts = TargetRules & {
  readonly post: Post;
  readonly timeoutMs?: number;
  readonly timing: Timing;
};

/**
 * Makes attempts, and keeps their connections for later ones. An attempt rejects with a ProxyFailure when the egress
 * proxy failed. Then it was not made.
 */
export type Sender = {
  readonly attempt: (request: PostRequest) => Promise<AttemptReport>;
  readonly close: () => void;
};

/** The limit of a whole attempt, from the look-up of the name to the end of the answer. §6.4 */
const ATTEMPT_TIMEOUT_MS = 10_000;

/** Creates the sender of a process, for its dispatcher and its worker. */
export function createSender(options: SenderOptions = {}): Sender {
  const { resolve = createNameResolver(), extraCa, proxy, ...rest } = options;
  const pool = createConnectionPool(extraCa, proxy);
  const post: Post = (request, scope) => postOnce(request, { ...scope, pool });
  return {
    attempt: createAttempt({ ...rest, resolve, post, timing: PROCESS_TIMING }),
    close: pool.close,
  };
}

/** Returns a function that makes attempts. Each attempt checks its target, and ends within `timeoutMs`. */
export function createAttempt(parts: AttemptParts): Sender["attempt"] {
  const { post, timing, timeoutMs = ATTEMPT_TIMEOUT_MS, ...rules } = parts;
  return async (request) => {
    const startMs = timing.nowMs();
    const deadline = new AbortController();
    const cancel = timing.after(timeoutMs, () => deadline.abort());
    try {
      const result = await attemptUntil(deadline.signal, request, rules, post);
      return reportOf(result, timing.nowMs() - startMs);
    } finally {
      cancel();
    }
  };
}

async function attemptUntil(
  deadline: AbortSignal,
  request: PostRequest,
  rules: TargetRules,
  post: Post,
): Promise<AttemptResult> {
  const target = await Promise.race([resolveTarget(request.url, rules), aborted(deadline)]);
  if (!target) return { kind: "timeout", detail: "the name was not resolved in time" };
  if (target.kind !== "safe") return target;
  return post(request, { target, deadline });
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
    headers: "headers" in result ? result.headers : undefined,
    bodyStart: "bodyStart" in result ? result.bodyStart : undefined,
  };
}
