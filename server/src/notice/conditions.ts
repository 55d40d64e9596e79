import { type Condition, LEVELS, NoticeKind } from "./notice.ts";

const HOUR_MICROS = 3_600_000_000;
const DAY_MICROS = 24 * HOUR_MICROS;
/** The share of fewer attempts is taken of as many: one failure alone is no sign. */
const MIN_ATTEMPTS = 20;
/** Below this percentage an endpoint works again. */
const WORKS_BELOW = 25;
/** How long before its end a key is told of, in days. */
const KEY_DAYS = LEVELS[NoticeKind.ApiKeyEnds].map(({ level }) => level);

/** For how long attempts and failed runs count. */
export const HEALTH_MICROS = DAY_MICROS;
/** How long before and after its end a key is told of. */
export const KEY_ENDS_WITHIN = { before: 14 * DAY_MICROS, after: 3 * DAY_MICROS } as const;
/** How long before and after the next secret signs alone it is told of. */
export const OVERLAP_ENDS_WITHIN = { before: HOUR_MICROS, after: DAY_MICROS } as const;
/** As long as the sessions last that such a link can have opened. */
const LINK_MICROS = 12 * HOUR_MICROS;

/** What an endpoint did in an hour. */
export type EndpointHour = {
  readonly beganAt: number;
  readonly delivered: number;
  readonly failed: number;
  readonly failedRuns: number;
};

/** What notices need to know of an endpoint that is not deleted. */
export type EndpointState = {
  readonly switchedOn: boolean;
  /** Whether a delivery, no test, is failed now: its owner has not retried it. */
  readonly hasFailed: boolean;
  /** When the secret signs that was made last, past or not; `undefined` when it did at once. */
  readonly nextSecretFrom: number | undefined;
  /** Of the last day, in any order. */
  readonly hours: readonly EndpointHour[];
};

/** Returns what there is to tell of an endpoint; of one that is switched off nothing but its secret. */
export function endpointConditions(endpoint: EndpointState, nowMicros: number): Condition[] {
  const newestFirst = endpoint.hours.toSorted((a, b) => b.beganAt - a.beganAt);
  const health = endpoint.switchedOn
    ? [failing(newestFirst, nowMicros), endpoint.hasFailed ? failedRuns(newestFirst) : undefined]
    : [];
  return [...health, overlap(endpoint.nextSecretFrom, nowMicros)].filter(
    (condition) => condition !== undefined,
  );
}

/** Returns whether a key that is not revoked ends, or has ended, near now. */
export function keyConditions(expiresAt: number, nowMicros: number): Condition[] {
  const left = expiresAt - nowMicros;
  const level = KEY_DAYS.findLast((days) => left <= days * DAY_MICROS);
  if (level === undefined || left <= -KEY_ENDS_WITHIN.after) return [];
  const since = expiresAt - level * DAY_MICROS;
  return [{ kind: NoticeKind.ApiKeyEnds, level, since, endsAt: expiresAt }];
}

/** Returns whether there is still to tell of a link that was used again. */
export function linkConditions(since: number, nowMicros: number): Condition[] {
  if (since <= nowMicros - LINK_MICROS) return [];
  return [{ kind: NoticeKind.SessionLinkReused, level: 0, since, endsAt: undefined }];
}

/** Goes by the newest hour with attempts, and by those before it until 20 attempts are found. */
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
  const first = newestFirst.findLast((hour) => hour.failedRuns > 0);
  if (first === undefined) return undefined;
  return { kind: NoticeKind.RunFailed, level: 0, since: first.beganAt, endsAt: undefined };
}

function overlap(signsFrom: number | undefined, nowMicros: number): Condition | undefined {
  if (signsFrom === undefined) return undefined;
  const since = signsFrom - OVERLAP_ENDS_WITHIN.before;
  if (since > nowMicros || signsFrom <= nowMicros - OVERLAP_ENDS_WITHIN.after) return undefined;
  return { kind: NoticeKind.SecretOverlapEnds, level: 0, since, endsAt: signsFrom };
}
