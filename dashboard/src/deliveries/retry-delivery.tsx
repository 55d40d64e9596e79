import { type Delivery, DeliveryService, DeliveryState } from "@activity/proto";
import { Button } from "../common/button.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";

/** What the button says by the delivery's state; in the other states there is nothing to send. */
const LABELS: { readonly [State in DeliveryState]?: string } = {
  [DeliveryState.FAILED]: texts.deliveries.retry,
  [DeliveryState.CANCELED]: texts.deliveries.retry,
  [DeliveryState.PAUSED]: texts.deliveries.retry,
  [DeliveryState.RETRYING]: texts.deliveries.retryNow,
  [DeliveryState.DELIVERED]: texts.deliveries.sendAgain,
};

/** Starts a new run of a delivery at once. ADR 0053 */
export function RetryDelivery({ delivery }: { delivery: Delivery }) {
  const { mutate, error, isPending } = useChange(DeliveryService.method.retryDelivery);
  const { id: deliveryId, state } = delivery;
  const label = LABELS[state];
  if (label === undefined) return null;
  const includeDelivered = state === DeliveryState.DELIVERED;
  const includeRetrying = state === DeliveryState.RETRYING;
  return (
    <>
      <Button
        look={includeDelivered ? "plain" : "primary"}
        isPending={isPending}
        onClick={() => mutate({ deliveryId, includeDelivered, includeRetrying })}
      >
        {label}
      </Button>
      <ErrorNotice error={error} />
    </>
  );
}
