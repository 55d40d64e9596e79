import type { Endpoint } from "@activity/proto";
import { Badge } from "../common/badge.tsx";
import { texts } from "../texts.ts";
import { healthOf } from "./hours.ts";
import { useStats } from "./use-stats.ts";

/** The state of an endpoint: off, on, or its health if it has one. */
export function EndpointBadge({ endpoint }: { endpoint: Endpoint }) {
  const { query, dayMs } = useStats(endpoint.id);
  if (!endpoint.switchedOn) return <Badge look="plain" text={texts.endpoints.off} />;
  const health = healthOf(query.data?.hours ?? [], dayMs);
  if (health === undefined) return <Badge look="good" text={texts.endpoints.on} />;
  return (
    <Badge look={health} text={texts.endpoints.health[health]} hint={texts.endpoints.healthHint} />
  );
}
