import { type Delivery, DeliveryState } from "@activity/proto";
import { texts } from "../texts.ts";

/**
 * Returns a delivery as the owner should see it. A deleted endpoint gets no further attempt, but the server cancels a
 * run only when its next attempt is due.
 */
export function shownDelivery(delivery: Delivery, isEndpointGone: boolean): Delivery {
  if (!isEndpointGone || !isOnItsWay(delivery)) return delivery;
  const { nextAttemptAt: _, ...rest } = delivery;
  return { ...rest, state: DeliveryState.CANCELED };
}

/** Tells whether a further attempt may follow. */
export function isOnItsWay({ state }: Delivery): boolean {
  return state === DeliveryState.PENDING || state === DeliveryState.RETRYING;
}

/** Writes how many attempts were made, and of how many where that is known and more may follow. */
export function attemptsText(delivery: Delivery, limit: number | undefined): string {
  const { attempts } = delivery;
  if (limit === undefined || !isOnItsWay(delivery)) return String(attempts);
  return texts.deliveries.attemptsMade(attempts, limit);
}
