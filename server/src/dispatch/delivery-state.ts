import { AttemptOutcome } from "@activity/proto";

/** The state of a delivery, numbered as in the proto's DeliveryState and the stored column. */
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

const FAILURES: readonly AttemptOutcome[] = Object.values(AttemptOutcome).filter(
  (outcome) => outcome > AttemptOutcome.DELIVERED,
);

/**
 * For each state, the outcomes that the run's last recorded attempt may have; `undefined` means none. Lists of
 * deliveries read these pairs of state and outcome, so a delivery with another pair is never listed. ADR 0026
 */
export const OUTCOMES_IN: Readonly<Record<DeliveryState, readonly (AttemptOutcome | undefined)[]>> =
  {
    [DeliveryState.Pending]: [undefined],
    [DeliveryState.Retrying]: [undefined, ...FAILURES],
    [DeliveryState.Delivered]: [AttemptOutcome.DELIVERED],
    [DeliveryState.Failed]: FAILURES,
    [DeliveryState.Canceled]: [undefined, ...FAILURES],
    [DeliveryState.Paused]: [undefined],
    [DeliveryState.Erased]: [undefined, ...FAILURES],
  };

/** The states of a run that has not ended. */
export const RUNNING_STATES: readonly DeliveryState[] = [
  DeliveryState.Pending,
  DeliveryState.Retrying,
];
/** The states of a delivery whose run failed, was canceled or is paused. */
const UNDELIVERED_STATES = [DeliveryState.Failed, DeliveryState.Canceled, DeliveryState.Paused];

/** Returns the states from which an owner can start another run, including the requested ones. */
export function retriableStates(asked: {
  readonly includeDelivered?: boolean;
  readonly includeRetrying?: boolean;
}): readonly DeliveryState[] {
  return [
    ...UNDELIVERED_STATES,
    ...(asked.includeDelivered ? [DeliveryState.Delivered] : []),
    ...(asked.includeRetrying ? [DeliveryState.Retrying] : []),
  ];
}

/** Returns the state of a delivery after an attempt; `isLast` means that no retry follows. */
export function stateAfterAttempt(outcome: AttemptOutcome, isLast: boolean): DeliveryState {
  if (outcome === AttemptOutcome.DELIVERED) return DeliveryState.Delivered;
  return isLast ? DeliveryState.Failed : DeliveryState.Retrying;
}
