import type { NoticeSchema, NoticeService } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { readAccount } from "../account/account-store.ts";
import { sessionOf } from "../admission/caller.ts";
import { mayUse, ScopeFamily, type SessionScope } from "../admission/session-scope.ts";
import { timestampFromMicros } from "../common/timestamps.ts";
import type { Pool } from "../database/pool.ts";
import { adviceOf } from "./advice.ts";
import { addDismissed, listDismissed } from "./dismissed-store.ts";
import { NoticeKind, severityOf } from "./notice.ts";
import { listNotices, listOpenOfAccount, type StoredNotice } from "./notice-store.ts";

const MAX_OPEN = 100;

/** The scopes that a session needs to see each kind. Notices about sessions need none. */
const FAMILIES: Readonly<Record<NoticeKind, ScopeFamily | undefined>> = {
  [NoticeKind.EndpointFailing]: ScopeFamily.Endpoints,
  [NoticeKind.RunFailed]: ScopeFamily.Deliveries,
  [NoticeKind.ApiKeyEnds]: ScopeFamily.Keys,
  [NoticeKind.SecretOverlapEnds]: ScopeFamily.Endpoints,
  [NoticeKind.SessionLinkReused]: undefined,
};

/** Creates the service of notices. ADR 0054 */
export function createNoticeService(pool: Pool): ServiceImpl<typeof NoticeService> {
  return {
    async listNotices({ accountId, after, limit }) {
      if (accountId !== "") await readAccount(pool, accountId);
      const notices = await listNotices(pool, accountId || undefined, after, limit);
      return { notices: notices.map(noticeToProto) };
    },

    async listOpenNotices(_, context) {
      const { account, hash, scopes } = sessionOf(context);
      const kinds = Object.values(NoticeKind).filter((kind) => maySee(scopes, kind));
      const without = await listDismissed(pool, hash);
      const open = await listOpenOfAccount(pool, account.id, { kinds, without }, MAX_OPEN);
      return { notices: open.map(noticeToProto) };
    },

    async dismissNotice({ sequence }, context) {
      await addDismissed(pool, sessionOf(context).hash, sequence);
      return {};
    },
  };
}

function maySee(scopes: readonly SessionScope[], kind: NoticeKind): boolean {
  const family = FAMILIES[kind];
  return family === undefined || mayUse(scopes, family, false);
}

function noticeToProto(notice: StoredNotice): MessageInitShape<typeof NoticeSchema> {
  const { kind, level, endsAt, closedAt } = notice;
  return {
    sequence: BigInt(notice.sequence),
    accountId: notice.accountId,
    kind,
    subjectId: notice.subjectId,
    level,
    severity: severityOf(kind, level),
    since: timestampFromMicros(notice.since),
    ...(endsAt !== undefined && { endsAt: timestampFromMicros(endsAt) }),
    ...(closedAt !== undefined && { closedAt: timestampFromMicros(closedAt) }),
    advice: adviceOf(kind, level),
  };
}
