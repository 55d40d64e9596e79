import type { Interceptor } from "@connectrpc/connect";
import { callerKey } from "../admission/caller.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";

/**
 * Restricts a service credential of one account to that account. The first message of a call must name it in
 * `account_id`, and no message may name another. A call without an account therefore needs a credential for all
 * accounts. A session's call is always about the session's account.
 */
export function createAccountScope(): Interceptor {
  return (next) => async (request) => {
    const caller = request.contextValues.get(callerKey);
    if (caller?.kind === "session" && !request.stream) {
      nameAccount(request.message, caller.session.account.id);
      return next(request);
    }
    const own = caller?.kind === "service" ? caller.accountId : undefined;
    if (own === undefined) return next(request);
    if (request.stream) return next({ ...request, message: checkEach(own, request.message) });
    checkAccount(own, accountIdIn(request.message));
    return next(request);
  };
}

/** Fails with `permission_denied` if a credential is for one account and a call names another or none. */
export function checkAccount(own: string | undefined, named: string | undefined): void {
  if (own === undefined || named === own) return;
  const problem = named
    ? "account_id accepts no other from it"
    : "this call does not name it in account_id, so it needs one for all accounts";
  throw new DomainError(
    ErrorCode.PermissionDenied,
    `The service credential is for the account ${own} only: ${problem}.`,
  );
}

/** Returns the `account_id` of a message or of an import's opening; `undefined` if it has none. */
export function accountIdIn(message: object): string | undefined {
  const named: { accountId?: string; step?: { case?: string; value?: object } } = message;
  if (named.accountId !== undefined) return named.accountId;
  return named.step?.case === "opening" ? accountIdIn(named.step.value ?? {}) : undefined;
}

function nameAccount(message: object, accountId: string): void {
  if ("accountId" in message) message.accountId = accountId;
}

async function* checkEach<T extends object>(
  own: string,
  messages: AsyncIterable<T>,
): AsyncGenerator<T, void> {
  let isFirst = true;
  for await (const message of messages) {
    const named = accountIdIn(message);
    if (isFirst || named !== undefined) checkAccount(own, named);
    isFirst = false;
    yield message;
  }
}
