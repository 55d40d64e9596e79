import type { Delivery } from "@activity/proto";
import { Link } from "wouter";
import { texts } from "../texts.ts";
import { useEndpoints, useIsGone } from "./use-endpoints.ts";

/** The endpoint of a delivery: its name or URL as a link, or only the id if it was deleted. */
export function EndpointName({ delivery }: { delivery: Delivery }) {
  const { endpointId } = delivery;
  const endpoint = useEndpoints()?.get(endpointId);
  const isGone = useIsGone();
  if (endpoint !== undefined) {
    return (
      <Link href={`/endpoints/${endpointId}`}>
        <bdi>{endpoint.name || endpoint.url}</bdi>
      </Link>
    );
  }
  return (
    <>
      <code>{endpointId}</code> {isGone(delivery) && `(${texts.endpoints.gone})`}
    </>
  );
}
