import type { Delivery } from "@activity/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useNowMs } from "../common/clock.ts";
import { countdownText } from "../common/duration-text.ts";
import { Time } from "../common/time.tsx";
import { texts } from "../texts.ts";

/** A countdown to the next attempt. */
export function NextAttempt({ delivery }: { delivery: Delivery }) {
  const now = useNowMs();
  const { nextAttemptAt } = delivery;
  if (nextAttemptAt === undefined) return <>{texts.none}</>;
  const leftMs = timestampMs(nextAttemptAt) - now;
  if (leftMs <= 0) return <>{texts.deliveries.nextNow}</>;
  return (
    <span role="timer">
      {texts.deliveries.nextIn(countdownText(leftMs))} (<Time at={nextAttemptAt} hasSeconds />)
    </span>
  );
}
