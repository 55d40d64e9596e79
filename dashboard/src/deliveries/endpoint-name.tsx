import type { Delivery } from "@activity/proto";
import { Link } from "wouter";
import { texts } from "../texts.ts";
import { useEndpoints, useIsGone } from "./use-endpoints.ts";

/** Where a delivery goes: the endpoint's name or URL, or what is left of one that was deleted. */
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
