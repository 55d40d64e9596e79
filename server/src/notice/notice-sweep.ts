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
/** Subjects looked at, and notices removed, in one transaction: it holds the lock for milliseconds. */
const CHUNK = 200;
const START: Candidate = { accountNo: 0, id: "", at: 0 };

/** What subjects are, and what there is to tell of them: of one account, subject and kind at most one condition. */
type Read = (
  tx: Transaction,
  subjects: readonly Subject[],
  nowMicros: number,
) => Promise<(Condition & { readonly accountId: string; readonly subjectId: string })[]>;

const ofEndpoints: Read = async (tx, subjects, nowMicros) =>
  (await readEndpoints(tx, subjects)).flatMap((endpoint) =>
    endpointConditions(endpoint, nowMicros).map((condition) => ({
      ...condition,
      accountId: endpoint.accountId,
      subjectId: endpoint.id,
    })),
  );

const ofKeys: Read = async (tx, subjects, nowMicros) =>
  (await readKeys(tx, subjects)).flatMap(({ accountId, id: subjectId, expiresAt }) =>
    keyConditions(expiresAt, nowMicros).map((each) => ({ ...each, accountId, subjectId })),
  );

const CANDIDATES: readonly (readonly [ListCandidates, Read])[] = [
  [listFailedAt, ofEndpoints],
  [listSecretEnds, ofEndpoints],
  [listKeyEnds, ofKeys],
];

/** Starts writing and closing notices, and removing old ones; returns how to stop it. ADR 0054 */
export function startNoticeSweep(pool: Pool, retentionDays: number, log: Log): () => void {
  return startPeriodicJob("sweep of notices", INTERVAL_MS, log, async () => {
    await sweepNotices(pool);
    await removeOldNotices(pool, retentionDays * DAY_MICROS);
  });
}

/**
 * Writes the notices that are missing, and closes those whose cause is gone. It goes by what is stored only, so one that
 * ends anywhere is made up for by the next, of whichever instance. A transaction looks at `chunk` subjects.
 */
export async function sweepNotices(pool: Pool, chunk = CHUNK): Promise<void> {
  for (const [list, read] of CANDIDATES) {
    for (let after: Candidate | undefined = START; after !== undefined; ) {
      const page: Candidate[] = await list(pool, after, chunk);
      if (page.length > 0) await settle(pool, page, read);
      after = page.length < chunk ? undefined : page.at(-1);
    }
  }
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: StoredNotice[] = await listOpen(pool, after, chunk);
    const isOf = (...kinds: NoticeKind[]) => page.filter(({ kind }) => kinds.includes(kind));
    const { ApiKeyEnds, SessionLinkReused, ...ofEndpoint } = NoticeKind;
    const parts = [
      [isOf(...Object.values(ofEndpoint)), ofEndpoints],
      [isOf(ApiKeyEnds), ofKeys],
      [isOf(SessionLinkReused), ofLinks(page)],
    ] as const;
    for (const [notices, read] of parts) {
      if (notices.length > 0) await settle(pool, notices.map(subjectOf), read);
    }
    after = page.length < chunk ? undefined : page.at(-1)?.sequence;
  }
}

/** Removes the closed notices that are older than that. */
export async function removeOldNotices(pool: Pool, keptMicros: number): Promise<void> {
  while ((await deleteOldNotices(pool, keptMicros, CHUNK)) === CHUNK);
}

/** Writes what changed of subjects, at least one: read, decided and stored under the lock of all notices. */
async function settle(pool: Pool, subjects: readonly Subject[], read: Read): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const clock = await lockNotices(tx);
    const conditions = await read(tx, subjects, clock.nowMicros);
    const ids = subjects.map(({ id }) => id);
    const open = new Map((await listOpenOf(tx, ids)).map((each) => [nameOf(each), each]));
    const closed: number[] = [];
    const told: NewNotice[] = [];
    const known = new Map(conditions.map((each) => [nameOf(each), each]));
    for (const name of new Set([...open.keys(), ...known.keys()])) {
      const [notice, condition] = [open.get(name), known.get(name)];
      const { closes, tells } = changeOf(notice, condition);
      if (closes && notice !== undefined) closed.push(notice.sequence);
      if (tells !== undefined && condition !== undefined) told.push({ ...condition, ...tells });
    }
    if (closed.length > 0) await closeNotices(tx, closed, clock.nowMicros);
    if (told.length > 0) await insertNotices(tx, clock, told);
  });
}

/** What is told of links is known from the notices alone. */
function ofLinks(notices: readonly StoredNotice[]): Read {
  return async (_, subjects, nowMicros) =>
    notices
      .filter(({ subjectId }) => subjects.some(({ id }) => id === subjectId))
      .flatMap(({ accountId, subjectId, since }) =>
        linkConditions(since, nowMicros).map((each) => ({ ...each, accountId, subjectId })),
      );
}

function subjectOf({ accountId, subjectId }: StoredNotice): Subject {
  return { accountNo: accountNoOf(accountId) ?? 0, id: subjectId };
}

function nameOf(each: { accountId: string; kind: NoticeKind; subjectId: string }): string {
  return `${each.accountId} ${each.kind} ${each.subjectId}`;
}
