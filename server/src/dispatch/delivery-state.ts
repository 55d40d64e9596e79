/** What became of a delivery: the numbers of the proto's DeliveryState, and of the stored column. */
export const DeliveryState = {
  Pending: 1,
  Retrying: 2,
  Delivered: 3,
  Failed: 4,
  Canceled: 5,
  Paused: 6,
  Erased: 7,
} as const;
export type DeliveryState = (typeof DeliveryState)[keyof typeof DeliveryState];

/** The `delivered` of the proto's AttemptOutcome, and of the stored columns. */
const OUTCOME_DELIVERED = 1;

/** The states of a run that has not ended. */
export const RUNNING_STATES: readonly DeliveryState[] = [
  DeliveryState.Pending,
  DeliveryState.Retrying,
];
/** The states from which an owner can start another run. */
export const RETRIABLE_STATES: readonly DeliveryState[] = [
  DeliveryState.Failed,
  DeliveryState.Canceled,
  DeliveryState.Paused,
];

/** Returns the state of a delivery after an attempt: success ends its run, else whether a retry follows. */
export function stateAfterAttempt(outcome: number, isLast: boolean): DeliveryState {
  if (outcome === OUTCOME_DELIVERED) return DeliveryState.Delivered;
  return isLast ? DeliveryState.Failed : DeliveryState.Retrying;
}
