import { type Delivery, DeliveryService, DeliveryState } from "@activity/proto";
import { Button } from "../common/button.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";

/** What a retry begins a new run of. */
export const RETRIED: readonly DeliveryState[] = [
  DeliveryState.FAILED,
  DeliveryState.CANCELED,
  DeliveryState.PAUSED,
];

/** Starts a new run of a delivery that ended without success. */
export function RetryDelivery({ delivery }: { delivery: Delivery }) {
  const { mutate, error, isPending } = useChange(DeliveryService.method.retryDelivery);
  if (!RETRIED.includes(delivery.state)) return null;
  return (
    <>
      <Button
        look="primary"
        isPending={isPending}
        onClick={() => mutate({ deliveryId: delivery.id })}
      >
        {texts.deliveries.retry}
      </Button>
      <ErrorNotice error={error} />
    </>
  );
}
