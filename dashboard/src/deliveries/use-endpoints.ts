import { type Delivery, type Endpoint, EndpointService, SessionScope } from "@activity/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useMay } from "../session/session-context.ts";

const READ_AGAIN_MS = 30_000;
/** How long before its answer came the list may have been read. */
const MAX_READ_MS = 5_000;

/** Returns the account's endpoints by their ids; `undefined` until they are read, and when the session may not see them. */
export function useEndpoints(): ReadonlyMap<string, Endpoint> | undefined {
  return useEndpointList().endpoints;
}

/**
 * Returns what tells whether a delivery's endpoint was deleted: it is not in the list, which was read after the
 * delivery began. An endpoint that is younger than the list is not there either.
 */
export function useIsGone(): (delivery: Delivery) => boolean {
  const { endpoints, readAtMs } = useEndpointList();
  return ({ endpointId, createdAt }) =>
    endpoints?.has(endpointId) === false &&
    createdAt !== undefined &&
    timestampMs(createdAt) < readAtMs - MAX_READ_MS;
}

/** The choices of a field that asks for an endpoint. */
export function useEndpointChoices(): readonly { readonly value: string; readonly text: string }[] {
  return [...(useEndpoints()?.values() ?? [])].map((each) => ({
    value: each.id,
    text: each.name ? `${each.name} · ${new URL(each.url).host}` : each.url,
  }));
}

function useEndpointList() {
  const enabled = useMay(SessionScope.ENDPOINTS_READ);
  const { data, dataUpdatedAt: readAtMs } = useQuery(
    EndpointService.method.listEndpoints,
    {},
    { enabled, refetchInterval: READ_AGAIN_MS },
  );
  const endpoints = data && new Map(data.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  return { endpoints, readAtMs };
}
