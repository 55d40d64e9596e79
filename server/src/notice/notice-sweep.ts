import type { Log } from "@activity/runtime/log";
import { accountNoOf } from "../common/ids.ts";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import { endpointConditions, keyConditions, linkConditions } from "./conditions.ts";
import { type Condition, changeOf, NoticeKind } from "./notice.ts";
import {
  closeNotices,
  deleteOldNotices,
  insertNotices,
  listOpen,
  listOpenOf,
  lockNotices,
  type NewNotice,
  type StoredNotice,
} from "./notice-store.ts";
import {
  type Candidate,
  type ListCandidates,
  listFailedAt,
  listKeyEnds,
  listSecretEnds,
  readEndpoints,
  readKeys,
  type Subject,
} from "./subject-store.ts";

const INTERVAL_MS = 60_000;
const DAY_MICROS = 86_400_000_000;
/** The most subjects or old notices in one transaction, so that it holds the lock only for milliseconds. */
const CHUNK = 200;
const START: Candidate = { accountNo: 0, id: "", at: 0 };

/** Reads the conditions of one sort of subject: endpoints, API keys or session links. */
type Source = {
  readonly kinds: readonly NoticeKind[];
  /** Returns the subjects' conditions, at most one for each subject and kind. `open` are their open notices. */
  readonly read: (
    tx: Transaction,
    subjects: readonly Subject[],
    nowMicros: number,
    open: readonly StoredNotice[],
  ) => Promise<(Condition & { readonly accountId: string; readonly subjectId: string })[]>;
};

const ENDPOINTS: Source = {
  kinds: [NoticeKind.EndpointFailing, NoticeKind.RunFailed, NoticeKind.SecretOverlapEnds],
  read: async (tx, subjects, nowMicros) =>
    (await readEndpoints(tx, subjects)).flatMap((endpoint) =>
      endpointConditions(endpoint, nowMicros).map((condition) => ({
        ...condition,
        accountId: endpoint.accountId,
        subjectId: endpoint.id,
      })),
    ),
};

const KEYS: Source = {
  kinds: [NoticeKind.ApiKeyEnds],
  read: async (tx, subjects, nowMicros) =>
    (await readKeys(tx, subjects)).flatMap(({ accountId, id: subjectId, expiresAt }) =>
      keyConditions(expiresAt, nowMicros).map((each) => ({ ...each, accountId, subjectId })),
    ),
};

/** Reads open notices instead of links, because links are deleted before their notices close. */
const LINKS: Source = {
  kinds: [NoticeKind.SessionLinkReused],
  read: async (_tx, _subjects, nowMicros, open) =>
    open.flatMap(({ accountId, subjectId, since }) =>
      linkConditions(since, nowMicros).map((each) => ({ ...each, accountId, subjectId })),
    ),
};

const CANDIDATES: readonly (readonly [ListCandidates, Source])[] = [
  [listFailedAt, ENDPOINTS],
  [listSecretEnds, ENDPOINTS],
  [listKeyEnds, KEYS],
];

/** Starts the job that writes and closes notices, and removes old ones. Returns a function that stops it. ADR 0054 */
export function startNoticeSweep(pool: Pool, retentionDays: number, log: Log): () => void {
  return startPeriodicJob("sweep of notices", INTERVAL_MS, log, async () => {
    await sweepNotices(pool);
    await removeOldNotices(pool, retentionDays * DAY_MICROS);
  });
}

/**
 * Writes missing notices, and closes those whose cause is gone. It depends only on stored data, so the next sweep of
 * any instance completes an interrupted one. Each transaction handles `chunk` subjects.
 */
export async function sweepNotices(pool: Pool, chunk = CHUNK): Promise<void> {
  for (const [list, source] of CANDIDATES) {
    const settled = new Set<string>();
    for (let after: Candidate | undefined = START; after !== undefined; ) {
      const page: Candidate[] = await list(pool, after, chunk);
      // An endpoint is listed for each hour with a failed attempt, but needs only one transaction.
      const fresh = page.filter((each) => !settled.has(candidateName(each)));
      for (const each of fresh) settled.add(candidateName(each));
      await settle(pool, fresh, source);
      after = page.length < chunk ? undefined : page.at(-1);
    }
  }
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: StoredNotice[] = await listOpen(pool, after, chunk);
    for (const source of [ENDPOINTS, KEYS, LINKS]) {
      const notices = page.filter(({ kind }) => source.kinds.includes(kind));
      await settle(pool, notices.map(subjectOf), source);
    }
    after = page.length < chunk ? undefined : page.at(-1)?.sequence;
  }
}

export async function removeOldNotices(pool: Pool, keptMicros: number): Promise<void> {
  while ((await deleteOldNotices(pool, keptMicros, CHUNK)) === CHUNK);
}

/** Reads, decides and stores the notices of subjects under the lock of all notices. */
async function settle(
  pool: Pool,
  subjects: readonly Subject[],
  { kinds, read }: Source,
): Promise<void> {
  if (subjects.length === 0) return;
  await inTransaction(pool, async (tx) => {
    const clock = await lockNotices(tx);
    const ids = subjects.map(({ id }) => id);
    const notices = await listOpenOf(tx, ids, kinds);
    const conditions = await read(tx, subjects, clock.nowMicros, notices);
    const open = new Map(notices.map((each) => [nameOf(each), each]));
    const closed: number[] = [];
    const opened: NewNotice[] = [];
    const found = new Map(conditions.map((each) => [nameOf(each), each]));
    for (const name of new Set([...open.keys(), ...found.keys()])) {
      const [notice, condition] = [open.get(name), found.get(name)];
      const { closes, opens } = changeOf(notice, condition);
      if (closes && notice !== undefined) closed.push(notice.sequence);
      if (opens !== undefined && condition !== undefined) opened.push({ ...condition, ...opens });
    }
    if (closed.length > 0) await closeNotices(tx, closed, clock.nowMicros);
    if (opened.length > 0) await insertNotices(tx, clock, opened);
  });
}

function candidateName({ accountNo, id }: Candidate): string {
  return `${accountNo} ${id}`;
}

function subjectOf({ accountId, subjectId }: StoredNotice): Subject {
  return { accountNo: accountNoOf(accountId) ?? 0, id: subjectId };
}

function nameOf(each: { accountId: string; kind: NoticeKind; subjectId: string }): string {
  return `${each.accountId} ${each.kind} ${each.subjectId}`;
}
