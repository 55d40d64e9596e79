import { anyOf, type Condition } from "../database/any-of.ts";

export type RunKey = {
  readonly accountNo: number;
  readonly deliveryId: string;
  readonly run: number;
};

/** A delivery, by its primary key. */
export type DeliveryKey = Omit<RunKey, "run">;

/** Returns a condition for rows of these deliveries (at least one). */
export function anyDelivery(
  keys: readonly DeliveryKey[],
  { account, delivery }: { readonly account: string; readonly delivery: string },
): Condition {
  return anyOf(
    [account, delivery],
    keys.map(({ accountNo, deliveryId }) => [accountNo, deliveryId]),
  );
}

/** Returns a condition for rows of these runs (at least one). */
export function anyRun(
  runs: readonly RunKey[],
  { account, delivery }: { readonly account: string; readonly delivery: string },
): Condition {
  return anyOf(
    [account, delivery, "run"],
    runs.map(({ accountNo, deliveryId, run }) => [accountNo, deliveryId, run]),
  );
}

/** Returns a string that identifies a delivery. */
export function deliveryName({ accountNo, deliveryId }: DeliveryKey): string {
  return `${accountNo} ${deliveryId}`;
}
