import type { ApiKey } from "@activity/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Badge } from "../common/badge.tsx";
import { DAY_MS, nowMs } from "../common/clock.ts";
import { Time } from "../common/time.tsx";
import { texts } from "../texts.ts";

const SOON_DAYS = 14;

/** The time when a key ends or ended, with a warning if that is soon. */
export function KeyEnd({ apiKey }: { apiKey: ApiKey }) {
  const { expiresAt, revokedAt, active } = apiKey;
  if (revokedAt !== undefined) {
    return (
      <>
        <Time at={revokedAt} /> <Badge look="plain" text={texts.keys.revoked} />
      </>
    );
  }
  const days = expiresAt ? Math.floor((timestampMs(expiresAt) - nowMs()) / DAY_MS) : 0;
  return (
    <>
      <Time at={expiresAt} /> {!active && <Badge look="plain" text={texts.keys.expired} />}
      {active && days < SOON_DAYS && <Badge look="warn" text={texts.keys.soon(days)} />}
    </>
  );
}
