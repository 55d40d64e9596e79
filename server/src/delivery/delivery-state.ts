/** What became of a delivery: the numbers of the proto's DeliveryState, and of the stored column. */
export const DeliveryState = {
  Waiting: 1,
  HandedOver: 2,
  Delivered: 3,
  Failed: 4,
  Canceled: 5,
  Held: 6,
} as const;
export type DeliveryState = (typeof DeliveryState)[keyof typeof DeliveryState];

/** The `delivered` of the proto's AttemptOutcome, and of the stored columns. */
const OUTCOME_DELIVERED = 1;

/** The states of a sequence that has not ended. */
export const RUNNING_STATES: readonly DeliveryState[] = [
  DeliveryState.Waiting,
  DeliveryState.HandedOver,
];
/** The states from which an owner can start another sequence. */
export const RETRIABLE_STATES: readonly DeliveryState[] = [
  DeliveryState.Failed,
  DeliveryState.Canceled,
  DeliveryState.Held,
];

/** Returns the state of a delivery after an attempt: success ends it, else whether another one follows. */
export function stateAfterAttempt(outcome: number, isLast: boolean): DeliveryState {
  if (outcome === OUTCOME_DELIVERED) return DeliveryState.Delivered;
  return isLast ? DeliveryState.Failed : DeliveryState.HandedOver;
}
