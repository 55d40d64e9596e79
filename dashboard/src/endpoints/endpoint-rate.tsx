import { durationText } from "../common/duration-text.ts";
import { texts } from "../texts.ts";
import { sumOf } from "./hours.ts";
import { rateText } from "./rate-text.ts";
import { useStats } from "./use-stats.ts";

/** The success rate and mean duration of an endpoint's last day. */
export function EndpointRate({ endpointId }: { endpointId: string }) {
  const { query, dayMs } = useStats(endpointId);
  if (query.data === undefined) return <>{texts.none}</>;
  const { rate, meanMs } = sumOf(query.data.hours, dayMs);
  if (rate === undefined) return <>{texts.endpoints.quiet}</>;
  return (
    <>
      {rateText(rate)} · {durationText(meanMs)}
    </>
  );
}
