import { type Delivery, type Endpoint, EndpointService, SessionScope } from "@activity/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { unlessRefused } from "../common/shown-data.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";

const READ_AGAIN_MS = 30_000;
/**
 * The longest expected time from the server's read of a list to its arrival, plus the difference between the server's
 * clock and the browser's. If a list takes longer, deliveries to a new endpoint are shown as canceled until the next
 * list. With a larger value, deliveries to a deleted endpoint would be shown as active for longer.
 */
const MAX_READ_MS = 5_000;

/**
 * Returns the account's endpoints by id. Returns `undefined` before they are loaded, or if the session may not see
 * them.
 */
export function useEndpoints(): ReadonlyMap<string, Endpoint> | undefined {
  return useEndpointList().endpoints;
}

/**
 * Returns a function that tells whether a delivery's endpoint was deleted. A deleted endpoint is missing in the list.
 * The list must be newer than the delivery, because an older one can also lack a new endpoint.
 */
export function useIsGone(): (delivery: Delivery) => boolean {
  const { endpoints, readAtMs } = useEndpointList();
  return ({ endpointId, createdAt }) =>
    endpoints?.has(endpointId) === false &&
    createdAt !== undefined &&
    timestampMs(createdAt) < readAtMs - MAX_READ_MS;
}

/** Returns the choices of a field for an endpoint. `chosenId` is one of them, even if its endpoint was deleted. */
export function useEndpointChoices(
  chosenId = "",
): readonly { readonly value: string; readonly text: string }[] {
  const endpoints = useEndpoints();
  const choices = [...(endpoints?.values() ?? [])].map((each) => ({
    value: each.id,
    text: each.name ? `${each.name} · ${new URL(each.url).host}` : each.url,
  }));
  if (chosenId === "" || endpoints?.has(chosenId)) return choices;
  return [...choices, { value: chosenId, text: endpoints ? texts.deliveries.gone : chosenId }];
}

function useEndpointList() {
  const enabled = useMay(SessionScope.ENDPOINTS_READ);
  const { data, dataUpdatedAt: readAtMs } = useQuery(
    EndpointService.method.listEndpoints,
    {},
    { enabled, refetchInterval: unlessRefused(READ_AGAIN_MS) },
  );
  const endpoints = data && new Map(data.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  return { endpoints, readAtMs };
}
