/** One run of a delivery. */
export type Run = {
  /** The number of the account that owns the delivery. */
  readonly accountNo: number;
  readonly deliveryId: string;
  /** From 1. Each manual retry of the delivery begins the next run. */
  readonly run: number;
};

/** An attempt of a run. */
export type AttemptKey = Run & {
  /** 1 to 8. */
  readonly attempt: number;
};

/** Returns a text that identifies the attempt. */
export function attemptName({ deliveryId, run, attempt }: AttemptKey): string {
  return `${deliveryId} ${run} ${attempt}`;
}
