import { type Delivery, DeliveryService, DeliveryState } from "@activity/proto";
import { Button } from "../common/button.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";

/** The states in which the server retries a delivery without a further option. */
export const RETRIED: readonly DeliveryState[] = [
  DeliveryState.FAILED,
  DeliveryState.CANCELED,
  DeliveryState.PAUSED,
];
/** The label of the button in each state. In the other states there is nothing to send. */
const LABELS = new Map<DeliveryState, string>([
  ...RETRIED.map((state) => [state, texts.deliveries.retry] as const),
  [DeliveryState.RETRYING, texts.deliveries.retryNow],
  [DeliveryState.DELIVERED, texts.deliveries.sendAgain],
]);

/** Starts a new run of a delivery at once. ADR 0053 */
export function RetryDelivery({ delivery }: { delivery: Delivery }) {
  const { mutate, error, isPending, isSuccess } = useChange(DeliveryService.method.retryDelivery);
  const { id: deliveryId, state } = delivery;
  const label = LABELS.get(state);
  if (label === undefined) return null;
  const includeDelivered = state === DeliveryState.DELIVERED;
  const includeRetrying = state === DeliveryState.RETRYING;
  return (
    <>
      <Button
        look={includeDelivered ? "plain" : "primary"}
        // Until the page has read the new run, a second click would begin another one.
        isPending={isPending || isSuccess}
        onClick={() => mutate({ deliveryId, includeDelivered, includeRetrying })}
      >
        {label}
      </Button>
      <ErrorNotice error={error} />
    </>
  );
}
