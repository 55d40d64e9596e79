/** One run of a delivery. */
export type RunKey = {
  readonly accountNo: number;
  readonly deliveryId: string;
  readonly run: number;
};

/** A delivery, by its primary key. */
export type DeliveryKey = Omit<RunKey, "run">;

/**
 * SQL that holds for rows of these deliveries, at least one, and its values. In this form both databases go
 * by the primary key; they do not for a list of pairs.
 */
export function anyDelivery(
  keys: readonly DeliveryKey[],
  columns: { readonly account: string; readonly delivery: string },
): { readonly sql: string; readonly values: (number | string)[] } {
  const one = `(${columns.account} = ? AND ${columns.delivery} = ?)`;
  return {
    sql: `(${keys.map(() => one).join(" OR ")})`,
    values: keys.flatMap(({ accountNo, deliveryId }) => [accountNo, deliveryId]),
  };
}

/** The same for runs, at least one, of rows with these columns. */
export function anyRun(
  runs: readonly RunKey[],
  columns: { readonly account: string; readonly delivery: string },
): { readonly sql: string; readonly values: (number | string)[] } {
  const one = `(${columns.account} = ? AND ${columns.delivery} = ? AND run = ?)`;
  return {
    sql: `(${runs.map(() => one).join(" OR ")})`,
    values: runs.flatMap(({ accountNo, deliveryId, run }) => [accountNo, deliveryId, run]),
  };
}

/** Returns a text that is the same for two keys of one delivery, and for no others. */
export function deliveryName({ accountNo, deliveryId }: DeliveryKey): string {
  return `${accountNo} ${deliveryId}`;
}
