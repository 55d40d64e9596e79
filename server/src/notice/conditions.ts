import { type Condition, LEVELS, NoticeKind } from "./notice.ts";

const HOUR_MICROS = 3_600_000_000;
const DAY_MICROS = 24 * HOUR_MICROS;
/** The failure percentage assumes at least this many attempts, because a single failure is no sign. */
const MIN_ATTEMPTS = 20;
/** Below this percentage an endpoint counts as working. */
const WORKS_BELOW = 25;
/** Days before an API key's end at which its owner gets a notice. */
const KEY_DAYS = LEVELS[NoticeKind.ApiKeyEnds].map(({ level }) => level);

/** How long attempts and failed runs count for an endpoint's notices. */
export const HEALTH_MICROS = DAY_MICROS;
/** An API key has a notice from `before` its end until `after` it. */
export const KEY_ENDS_WITHIN = { before: 14 * DAY_MICROS, after: 3 * DAY_MICROS } as const;
/** An endpoint has a notice from `before` the start of its next secret until `after` it. */
export const OVERLAP_ENDS_WITHIN = { before: HOUR_MICROS, after: DAY_MICROS } as const;
/** The lifetime of the sessions that a reused link may have opened. */
const LINK_MICROS = 12 * HOUR_MICROS;

/** The attempts at an endpoint in one hour. */
export type EndpointHour = {
  readonly beganAt: number;
  readonly delivered: number;
  readonly failed: number;
  readonly failedRuns: number;
};

/** The state of an endpoint that is not deleted, as far as notices depend on it. */
export type EndpointState = {
  readonly switchedOn: boolean;
  /** Whether a delivery that is not a test has failed and its owner has not retried it. */
  readonly hasFailed: boolean;
  /** When the newest secret begins or began to sign; `undefined` if it signed at once. */
  readonly nextSecretFrom: number | undefined;
  /** The hours of the last day, in any order. */
  readonly hours: readonly EndpointHour[];
};

/** Returns the conditions of an endpoint. While it is off, its failures open no notice, but keep an open one. */
export function endpointConditions(endpoint: EndpointState, nowMicros: number): Condition[] {
  const { switchedOn, hasFailed, nextSecretFrom } = endpoint;
  const newestFirst = endpoint.hours.toSorted((a, b) => b.beganAt - a.beganAt);
  const failures = [
    failing(newestFirst, nowMicros),
    hasFailed ? failedRuns(newestFirst) : undefined,
  ].map((each) => each && (switchedOn ? each : { ...each, level: undefined }));
  return [...failures, overlap(nextSecretFrom, nowMicros)].filter(
    (condition) => condition !== undefined,
  );
}

/** Returns the condition of an API key that ends soon or ended recently. The key must not be revoked. */
export function keyConditions(expiresAt: number, nowMicros: number): Condition[] {
  const left = expiresAt - nowMicros;
  const level = KEY_DAYS.findLast((days) => left <= days * DAY_MICROS);
  if (level === undefined || left <= -KEY_ENDS_WITHIN.after) return [];
  const since = expiresAt - level * DAY_MICROS;
  return [{ kind: NoticeKind.ApiKeyEnds, level, since, endsAt: expiresAt }];
}

/**
 * Returns the condition of a reused link until the sessions that it may have opened have expired. The condition stays
 * even if these sessions were ended: a thief could end them to hide the notice.
 */
export function linkConditions(since: number, nowMicros: number): Condition[] {
  if (since <= nowMicros - LINK_MICROS) return [];
  return [{ kind: NoticeKind.SessionLinkReused, level: 0, since, endsAt: undefined }];
}

/** Returns the condition of failing attempts. Counts the newest hours until they hold 20 attempts. */
function failing(newestFirst: readonly EndpointHour[], since: number): Condition | undefined {
  let attempts = 0;
  let failed = 0;
  for (const hour of newestFirst) {
    if (attempts >= MIN_ATTEMPTS) break;
    attempts += hour.delivered + hour.failed;
    failed += hour.failed;
  }
  const percent = (100 * failed) / Math.max(MIN_ATTEMPTS, attempts);
  if (percent < WORKS_BELOW) return undefined;
  const kind = NoticeKind.EndpointFailing;
  const level = LEVELS[kind].findLast((each) => percent >= each.level)?.level;
  return { kind, level, since, endsAt: undefined };
}

function failedRuns(newestFirst: readonly EndpointHour[]): Condition | undefined {
  // Takes the newest hour with failed runs, because an earlier one may belong to a problem that is already solved.
  const newest = newestFirst.find((hour) => hour.failedRuns > 0);
  if (newest === undefined) return undefined;
  return { kind: NoticeKind.RunFailed, level: 0, since: newest.beganAt, endsAt: undefined };
}

function overlap(signsFrom: number | undefined, nowMicros: number): Condition | undefined {
  if (signsFrom === undefined) return undefined;
  const since = signsFrom - OVERLAP_ENDS_WITHIN.before;
  if (since > nowMicros || signsFrom <= nowMicros - OVERLAP_ENDS_WITHIN.after) return undefined;
  return { kind: NoticeKind.SecretOverlapEnds, level: 0, since, endsAt: signsFrom };
}
