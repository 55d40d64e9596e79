import { type Delivery, DeliveryState } from "@activity/proto";
import { texts } from "../texts.ts";

/**
 * Returns a delivery as the owner should see it. A deleted endpoint gets no further attempt, but the server cancels a
 * run only when its next attempt is due. Until then, this shows the delivery as canceled.
 */
export function shownDelivery(delivery: Delivery, isEndpointGone: boolean): Delivery {
  if (!isEndpointGone || !isOnItsWay(delivery)) return delivery;
  const { nextAttemptAt: _, ...rest } = delivery;
  return { ...rest, state: DeliveryState.CANCELED };
}

/** Returns whether a further attempt may follow. */
export function isOnItsWay({ state }: Delivery): boolean {
  return state === DeliveryState.PENDING || state === DeliveryState.RETRYING;
}

/** Returns the number of attempts as text. While more may follow, it includes `limit`, if known. */
export function attemptsText(delivery: Delivery, limit: number | undefined): string {
  const { attempts } = delivery;
  if (limit === undefined || !isOnItsWay(delivery)) return String(attempts);
  return texts.deliveries.attemptsMade(attempts, limit);
}
