import type { GetMeRequest, GetMeResponse, MeService } from "@activity/proto";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { callerKey } from "../admission/caller.ts";
import { timestampFromMicros } from "../common/timestamps.ts";
import type { Pool } from "../database/pool.ts";
import { readAccountOf } from "./read-account.ts";

/** Every API key has this one scope. §2.5 */
const SCOPE = "activity:read";

/** Serves the profile. For an API key it needs no further look-up, because the admission read the profile. */
export function createMeService(pool: Pool): ServiceImpl<typeof MeService> {
  async function getMe(request: GetMeRequest, context: HandlerContext): Promise<GetMeResponse> {
    const account = await readAccountOf(pool, context, request.accountId);
    const caller = context.values.get(callerKey);
    return {
      $typeName: "activity.read.v1.GetMeResponse",
      me: {
        $typeName: "activity.read.v1.Me",
        id: account.id,
        username: account.username,
        displayName: account.displayName,
        scopes: [SCOPE],
        ...(caller?.kind === "api_key" && {
          key: {
            $typeName: "activity.read.v1.ApiKeySummary",
            prefix: caller.apiKey.prefix,
            expiresAt: timestampFromMicros(caller.apiKey.expiresAtMicros),
          },
        }),
      },
    };
  }
  return { getMe };
}
