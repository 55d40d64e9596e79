import type { Delivery } from "@activity/proto";
import { texts } from "../texts.ts";
import { useEndpoints, useIsGone } from "./use-endpoints.ts";

/** Where a delivery goes, as short as it is clear: the name, or the host, with the path where two endpoints share it. */
export function EndpointHost({ delivery }: { delivery: Delivery }) {
  const endpoints = useEndpoints();
  const isGone = useIsGone();
  const endpoint = endpoints?.get(delivery.endpointId);
  if (endpoint === undefined) {
    return isGone(delivery) ? texts.endpoints.gone : <code>{delivery.endpointId}</code>;
  }
  const { name, url } = endpoint;
  const { host } = new URL(url);
  const sharing = [...(endpoints?.values() ?? [])].filter(
    (each) => new URL(each.url).host === host,
  );
  return (
    <span title={url}>
      <span aria-hidden="true">→ </span>
      <bdi>{name || (sharing.length > 1 ? url.slice("https://".length) : host)}</bdi>
    </span>
  );
}
