import { type SessionScope, SessionScopeSchema } from "@activity/proto";
import type { Clients } from "./demo-account.ts";

/** Every session scope. Drops the first value, which is the unspecified one. */
const EVERYTHING = SessionScopeSchema.values.slice(1).map(({ number }) => number as SessionScope);

/** Creates a link into an account's dashboard, as the embedding site does. It works once, within five minutes. */
export async function createDashboardLink(
  { sessions }: Pick<Clients, "sessions">,
  accountId: string,
): Promise<string> {
  return (await sessions.createSessionLink({ accountId, scopes: EVERYTHING })).url;
}
