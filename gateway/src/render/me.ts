import type { GetMeResponse } from "@activity/proto";
import { renderTimestamp } from "./timestamp.ts";

/** Renders the body of `GET /me` (§2.5). Throws if the message lacks a field. */
export function renderMe({ me }: GetMeResponse): string {
  if (!me?.key?.expiresAt) throw new Error("the me message lacks a field");
  return JSON.stringify({
    data: {
      id: me.id,
      username: me.username,
      display_name: me.displayName,
      scopes: me.scopes,
      key: { prefix: me.key.prefix, expires_at: renderTimestamp(me.key.expiresAt) },
    },
  });
}
