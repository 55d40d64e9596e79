import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { texts } from "../texts.ts";
import { agoText } from "./ago-text.ts";
import { useNowMs } from "./clock.ts";
import { exactText, Time } from "./time.tsx";

const TICK_MS = 10_000;

/** How long ago something happened. On hover, it shows the moment. After a week it shows only the moment. */
export function Ago({ at }: { at: Timestamp | undefined }) {
  const now = useNowMs(TICK_MS);
  if (at === undefined) return <>{texts.none}</>;
  const date = timestampDate(at);
  const text = agoText(now - date.getTime());
  if (text === undefined) return <Time at={at} />;
  return (
    <time dateTime={date.toISOString()} title={exactText(at)}>
      {text}
    </time>
  );
}
