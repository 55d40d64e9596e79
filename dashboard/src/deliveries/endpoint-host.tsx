import type { Delivery } from "@activity/proto";
import { texts } from "../texts.ts";
import { useEndpoints, useIsGone } from "./use-endpoints.ts";

/**
 * The shortest clear name of a delivery's endpoint: its name, or its host. If two endpoints share the host, the path is
 * shown too.
 */
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
