/** One run of a delivery: what dispatcher and workflow are told of it. */
export type Run = {
  /** The number of the account that owns it. */
  readonly accountNo: number;
  readonly deliveryId: string;
  /** From 1 on; each manual retry of a delivery begins another. */
  readonly run: number;
};

/** An attempt of a run. */
export type AttemptKey = Run & {
  /** 1 to 8. */
  readonly attempt: number;
};

/** Returns a text that is the same for two keys of one attempt, and for no others. */
export function attemptName({ deliveryId, run, attempt }: AttemptKey): string {
  return `${deliveryId} ${run} ${attempt}`;
}
