import type { Log } from "@activity/runtime/log";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { callerKey } from "../admission/caller.ts";
import { auditNowKey } from "../common/audit-now.ts";
import { isId } from "../common/ids.ts";
import { isAdministrative } from "./access.ts";
import { accountIdIn } from "./account-scope.ts";
import type { FindService } from "./registered-service.ts";
import { requestIdOf } from "./request-id.ts";

/**
 * Logs one line for each administrative call whose message can be read, also if it is refused. The line has the
 * credential's name or "session", the method, the account, the time, the request id and the result. `subject` is the id
 * of the API key or endpoint that the call names. Nothing else of the request or the answer is logged. A call without a
 * known caller is only in the request log. A line is written when the call ends, or earlier with `auditNowKey`. `nowMs`
 * counts from 1970.
 */
export function createAuditLog(
  log: Log,
  nowMs: () => number,
  findService: FindService,
): Interceptor {
  return (next) => async (request) => {
    const access = findService(request.service).accessOf(request.method);
    if (request.stream || !isAdministrative(access, request.method)) return next(request);
    let isWritten = false;
    const write = (code: string, accountId: string | undefined) => {
      if (isWritten) return;
      isWritten = true;
      const caller = request.contextValues.get(callerKey);
      if (caller === undefined || caller.kind === "api_key") return;
      const own = caller.kind === "session" ? caller.session.account.id : undefined;
      const about = own ?? accountId;
      log.info("audit", {
        caller: caller.kind === "session" ? "session" : caller.name,
        method: `${request.service.typeName}/${request.method.name}`,
        account: idIn(about),
        subject: idIn(subjectOf(request.message)),
        time: new Date(nowMs()).toISOString(),
        requestId: requestIdOf(request),
        code,
      });
    };
    const named = accountIdIn(request.message);
    request.contextValues.set(auditNowKey, () => write("ok", named));
    try {
      const response = await next(request);
      write("ok", named ?? storedAccountIdIn(response.message));
      return response;
    } catch (error) {
      write(Code[ConnectError.from(error).code], named);
      throw error;
    }
  };
}

/** Returns a text only if it is an id, because a field of a refused call may hold any text. */
function idIn(text: string | undefined): string | undefined {
  return text !== undefined && isId(text) ? text : undefined;
}

function subjectOf(message: object): string | undefined {
  const { apiKeyId, endpointId }: { apiKeyId?: string; endpointId?: string } = message;
  return apiKeyId ?? endpointId;
}

/** Returns the id of a new account, which the request cannot name. */
function storedAccountIdIn(answer: object): string | undefined {
  const { account }: { account?: { id: string } } = answer;
  return account?.id;
}
