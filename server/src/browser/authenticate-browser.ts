import { clientBucket } from "@activity/runtime/client-bucket";
import type { Admission } from "../admission/admission.ts";
import { callerKey, peerAddressKey, type SessionRecord } from "../admission/caller.ts";
import { mayUse, type ScopeFamily } from "../admission/session-scope.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import type { OutageLog } from "../common/outage-log.ts";
import { Access, changesSomething } from "../rpc/access.ts";
import { type Authenticate, type Call, countUnknown, throwIfRefused } from "../rpc/authenticate.ts";
import type { FindService } from "../rpc/registered-service.ts";
import { sessionTextIn } from "../session/session-cookie.ts";
import type { Sessions } from "../session/sessions.ts";
import type { DashboardConfig } from "./dashboard-config.ts";
import { checkOwnPage } from "./door.ts";

/**
 * Admits a call of the dashboard's page at `origin` if the page's session allows the call, or if the call needs no
 * session. A credential or an API key has no effect here.
 */
export function createAuthenticateBrowser(
  admission: Admission,
  sessions: Sessions,
  findService: FindService,
  logOutage: OutageLog,
  { origin, isEmbedded }: Pick<DashboardConfig, "origin" | "isEmbedded">,
): Authenticate {
  return async (call) => {
    checkOwnPage(call.header, origin);
    const { accessOf, dashboard } = findService(call.service);
    const access = accessOf(call.method);
    if (access === Access.Browser) return admitBrowser(call);
    if (access !== Access.Session && dashboard === undefined) throw notForBrowsers();
    const session = await findSession(call);
    // Sets the caller before the scope check, so that the audit log names the session that lacks the scope.
    call.contextValues.set(callerKey, { kind: "session", session });
    if (access !== Access.Session && dashboard !== undefined) checkScope(session, dashboard, call);
  };

  async function admitBrowser({ contextValues, signal }: Call): Promise<void> {
    const client = clientBucket(contextValues.get(peerAddressKey) ?? "");
    throwIfRefused(await admission.admit({ client, signal }));
  }

  async function findSession(call: Call): Promise<SessionRecord> {
    const text = sessionTextIn(call.header.get("cookie"), isEmbedded);
    const session =
      text === undefined
        ? undefined
        : await sessions.find(text, () => countUnknown(admission, call, logOutage));
    if (session === undefined) throw sessionEnded();
    return session;
  }
}

function checkScope({ scopes }: SessionRecord, family: ScopeFamily, { method }: Call): void {
  const isWrite = changesSomething(method);
  if (mayUse(scopes, family, isWrite)) return;
  throw new DomainError(
    ErrorCode.PermissionDenied,
    `This session may not ${isWrite ? "change" : "see"} ${family.name}: the site that opened the dashboard sets its scopes.`,
  );
}

/** Every session that does not work gets this error, so that it does not reveal which sessions existed. */
function sessionEnded(): DomainError {
  return new DomainError(
    ErrorCode.SessionEnded,
    "You are signed out: open the dashboard again from the site that you came from.",
  );
}

function notForBrowsers(): DomainError {
  return new DomainError(
    ErrorCode.PermissionDenied,
    "Only internal services may make this call, at the core's port.",
  );
}
