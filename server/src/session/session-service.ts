import type { SessionSchema, SessionService } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { endSessions } from "../account/account-sessions-store.ts";
import { callerKey, type SessionRecord, sessionOf } from "../admission/caller.ts";
import { scopeBits } from "../admission/session-scope.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { timestampFromMicros } from "../common/timestamps.ts";
import type { Packets } from "../database/packet.ts";
import type { Pool } from "../database/pool.ts";
import { tellLinkReused } from "../notice/link-reuse.ts";
import type { Writer } from "../write/writer.ts";
import { LIMITS } from "./limits.ts";
import { parseReturnUrl } from "./return-url.ts";
import { endedCookie, sessionCookie, sessionTextIn } from "./session-cookie.ts";
import {
  hashSessionSecret,
  isSessionSecret,
  LINK_VALIDITY_MICROS,
  linkId,
  newSessionSecret,
} from "./session-secret.ts";
import {
  deleteSession,
  exchangeLink,
  findLinkAccount,
  findReusedAccount,
  findSession,
  storeSessionLink,
} from "./session-store.ts";

/** The addresses of the dashboard and of the read API. */
export type DashboardAddress = {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Whether pages of other sites may embed the dashboard. */
  readonly isEmbedded: boolean;
  /** The address of the read API for clients; may be empty. */
  readonly apiUrl: string;
};

/** Creates the service of dashboard sessions. Without `address` there is no dashboard, so it creates no links. */
export function createSessionService(
  pool: Pool,
  packets: Packets,
  { write }: Writer,
  address: DashboardAddress | undefined,
): ServiceImpl<typeof SessionService> {
  const isEmbedded = address?.isEmbedded ?? false;
  const toProto = (session: SessionRecord) => sessionToProto(session, address?.apiUrl);

  /** Returns the refusal of a code. If the link has opened another session, first writes a notice to the owner. */
  async function refused(codeHash: Buffer, before: Buffer | undefined): Promise<DomainError> {
    const accountId = await findReusedAccount(pool, codeHash, before);
    if (accountId !== undefined) await tellLinkReused(pool, accountId, linkId(codeHash));
    return linkUsedUp();
  }

  return {
    async createSessionLink({ accountId, scopes, returnUrl: asked }) {
      if (address === undefined) throw notServed();
      const returnUrl = parseReturnUrl(asked);
      const { secret, hash: codeHash } = newSessionSecret();
      const expiresAt = await write({
        accountId,
        load: () => ({}),
        decide(_, { accountNo, blocked, nowMicros }) {
          if (blocked) throw accountBlocked();
          const expiresAt = nowMicros + LINK_VALIDITY_MICROS;
          const link = { codeHash, accountNo, scopes: scopeBits(scopes), expiresAt, returnUrl };
          return { answer: expiresAt, changes: [storeSessionLink(link)] };
        },
      });
      const url = `${address.origin}/#code=${secret}`;
      return { url, expiresAt: timestampFromMicros(expiresAt) };
    },

    async exchangeCode({ code, replaceSession }, context) {
      const { values, requestHeader, responseHeader, signal } = context;
      if (!isSessionSecret(code)) throw linkUsedUp();
      const codeHash = hashSessionSecret(code);
      const presented = sessionTextIn(requestHeader.get("cookie"), isEmbedded);
      const before = presented === undefined ? undefined : hashSessionSecret(presented);
      if (before !== undefined) {
        // Checks the link first, so that the page never asks about the browser's session for a link that does not work.
        const linkAccountNo = await findLinkAccount(pool, codeHash);
        if (linkAccountNo === undefined) throw await refused(codeHash, before);
        const had = replaceSession ? undefined : await findSession(pool, before);
        if (had !== undefined && had.account.no !== linkAccountNo) throw sessionOfAnotherAccount();
      }
      const { secret, hash } = newSessionSecret();
      const session = await exchangeLink(packets, signal, codeHash, hash, before);
      if (session === undefined) throw await refused(codeHash, before);
      // The audit log needs the caller, who is known from here on.
      values.set(callerKey, { kind: "session", session });
      responseHeader.set("set-cookie", sessionCookie(secret, isEmbedded));
      return { session: toProto(session) };
    },

    getSession: (_, context) => ({ session: toProto(sessionOf(context)) }),

    async signOut(_, context) {
      await packets.run([deleteSession(sessionOf(context).hash)]);
      context.responseHeader.set("set-cookie", endedCookie(isEmbedded));
      return {};
    },

    async signOutEverywhere(_, context) {
      await packets.run(endSessions(sessionOf(context).account.no));
      context.responseHeader.set("set-cookie", endedCookie(isEmbedded));
      return {};
    },
  };
}

function sessionToProto(
  session: SessionRecord,
  apiUrl = "",
): MessageInitShape<typeof SessionSchema> {
  return {
    accountId: session.account.id,
    username: session.account.username,
    displayName: session.account.displayName,
    scopes: [...session.scopes],
    expiresAt: timestampFromMicros(session.expiresAtMicros),
    apiUrl,
    limits: LIMITS,
    returnUrl: session.returnUrl ?? "",
  };
}

function notServed(): DomainError {
  return new DomainError(
    ErrorCode.DashboardNotServed,
    "This core has no DASHBOARD_URL. Set it to the dashboard's origin, and restart the core.",
  );
}

function accountBlocked(): DomainError {
  return new DomainError(
    ErrorCode.AccountUnavailable,
    "The account is blocked: its owner can enter once it is unblocked.",
  );
}

function sessionOfAnotherAccount(): DomainError {
  return new DomainError(
    ErrorCode.SessionOfAnotherAccount,
    "This browser has another account's session. Ask the person at it, then exchange the code again with replace_session.",
  );
}

/** Every code that does not work gets this error, so that it does not reveal which codes existed. */
function linkUsedUp(): DomainError {
  return new DomainError(
    ErrorCode.SessionLinkUsedUp,
    "This dashboard link no longer works. A link works once, within five minutes. Ask for another where you got it.",
  );
}
