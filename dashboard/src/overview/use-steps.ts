import { ApiKeyService, DeliveryService, DeliveryState, SessionScope } from "@activity/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { DAY_MS, nowMs } from "../common/clock.ts";
import { useEndpoints } from "../deliveries/use-endpoints.ts";
import { useMay } from "../session/session-context.ts";
import type { texts } from "../texts.ts";

const READ_AGAIN_MS = 5_000;
/** How long deliveries are kept by default. */
const KEPT_MS = 30 * DAY_MS;

/** One step of the setup, and the page where the owner does it. `href` is empty if the session cannot do it. */
export type Step = {
  readonly name: keyof typeof texts.overview.steps;
  readonly isDone: boolean;
  readonly href: string;
};

/** Returns the setup steps that the session may see. Returns none while the data is loading. */
export function useSteps(): readonly Step[] {
  const mayReadKeys = useMay(SessionScope.KEYS_READ);
  const mayReadEndpoints = useMay(SessionScope.ENDPOINTS_READ);
  const mayReadDeliveries = useMay(SessionScope.DELIVERIES_READ);
  const mayWriteKeys = useMay(SessionScope.KEYS_WRITE);
  const mayWriteEndpoints = useMay(SessionScope.ENDPOINTS_WRITE);
  const delivered = useLatest(DeliveryState.DELIVERED);
  const isDelivered = delivered?.length === 1;
  // After the first delivered event, the latest delivery does not matter and is not read.
  const latest = useLatest(DeliveryState.UNSPECIFIED, isDelivered);
  const { data: keys } = useQuery(
    ApiKeyService.method.listApiKeys,
    {},
    { enabled: mayReadKeys, refetchInterval: READ_AGAIN_MS },
  );
  const endpoints = useEndpoints();
  const isLoading =
    (mayReadKeys && !keys) ||
    (mayReadEndpoints && !endpoints) ||
    (mayReadDeliveries && (!delivered || (!isDelivered && !latest)));
  if (isLoading) return [];
  const [endpoint] = endpoints?.values() ?? [];
  const [last] = latest ?? [];
  // If there is no delivery, and the endpoint is older than deliveries are kept, those of the setup may have been
  // removed. So these steps count as done.
  const isOver =
    !!endpoint?.createdAt &&
    last === undefined &&
    timestampMs(endpoint.createdAt) < nowMs() - KEPT_MS;
  const steps: (Step & { readonly may: boolean })[] = [
    {
      name: "key",
      may: mayReadKeys,
      isDone: keys?.apiKeys.some(({ active }) => active) === true,
      href: mayWriteKeys ? "/keys" : "",
    },
    {
      name: "endpoint",
      may: mayReadEndpoints,
      isDone: !!endpoint,
      href: mayWriteEndpoints ? "/endpoints/new" : "",
    },
    {
      name: "test",
      may: mayReadDeliveries,
      isDone: isOver || isDelivered || last !== undefined,
      href: mayWriteEndpoints && endpoint ? `/endpoints/${endpoint.id}` : "",
    },
    {
      name: "delivered",
      may: mayReadDeliveries,
      isDone: isOver || isDelivered,
      href: last ? `/deliveries/${last.id}` : "",
    },
  ];
  return steps.filter(({ may }) => may);
}

function useLatest(state: DeliveryState, isNeedless = false) {
  const enabled = useMay(SessionScope.DELIVERIES_READ) && !isNeedless;
  const { data } = useQuery(
    DeliveryService.method.listDeliveries,
    { state, pageSize: 1 },
    { enabled, refetchInterval: READ_AGAIN_MS },
  );
  return data?.deliveries;
}
