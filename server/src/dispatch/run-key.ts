import { anyOf, type Condition } from "../database/any-of.ts";

/** One run of a delivery. */
export type RunKey = {
  readonly accountNo: number;
  readonly deliveryId: string;
  readonly run: number;
};

/** A delivery, by its primary key. */
export type DeliveryKey = Omit<RunKey, "run">;

/** SQL that holds for rows of these deliveries, at least one, and its values. */
export function anyDelivery(
  keys: readonly DeliveryKey[],
  { account, delivery }: { readonly account: string; readonly delivery: string },
): Condition {
  return anyOf(
    [account, delivery],
    keys.map(({ accountNo, deliveryId }) => [accountNo, deliveryId]),
  );
}

/** The same for runs, at least one, of rows with these columns. */
export function anyRun(
  runs: readonly RunKey[],
  { account, delivery }: { readonly account: string; readonly delivery: string },
): Condition {
  return anyOf(
    [account, delivery, "run"],
    runs.map(({ accountNo, deliveryId, run }) => [accountNo, deliveryId, run]),
  );
}

/** Returns a text that is the same for two keys of one delivery, and for no others. */
export function deliveryName({ accountNo, deliveryId }: DeliveryKey): string {
  return `${accountNo} ${deliveryId}`;
}
