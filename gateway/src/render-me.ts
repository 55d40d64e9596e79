import type { GetMeResponse } from "@activity/proto";
import type { Timestamp } from "@bufbuild/protobuf/wkt";

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

/** Renders a time in UTC with six fractional digits and `Z`. §2 */
function renderTimestamp({ seconds, nanos }: Timestamp): string {
  const whole = new Date(Number(seconds) * 1_000).toISOString().slice(0, 19);
  return `${whole}.${String(Math.floor(nanos / 1_000)).padStart(6, "0")}Z`;
}
