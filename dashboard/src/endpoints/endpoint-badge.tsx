import type { Endpoint } from "@activity/proto";
import { Badge } from "../common/badge.tsx";
import { texts } from "../texts.ts";

/** Whether an endpoint is on. */
export function EndpointBadge({ endpoint }: { endpoint: Endpoint }) {
  return endpoint.switchedOn ? (
    <Badge look="good" text={texts.endpoints.on} />
  ) : (
    <Badge look="plain" text={texts.endpoints.off} />
  );
}
