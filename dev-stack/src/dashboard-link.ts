import { type SessionScope, SessionScopeSchema } from "@activity/proto";
import type { Clients } from "./demo.ts";

/** All that a session may be allowed; the first is the unspecified one. */
const EVERYTHING = SessionScopeSchema.values.slice(1).map(({ number }) => number as SessionScope);

/** Asks for a link into an account's dashboard, as the site does that embeds it: good once, within five minutes. */
export async function createDashboardLink(
  { sessions }: Pick<Clients, "sessions">,
  accountId: string,
): Promise<string> {
  return (await sessions.createSessionLink({ accountId, scopes: EVERYTHING })).url;
}
