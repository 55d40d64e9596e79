import { isFromShard } from "./shard-error.ts";

/** Codes of a server that is read-only. */
const READ_ONLY_CODES = new Set([
  "ER_OPTION_PREVENTS_STATEMENT",
  "ER_READ_ONLY_MODE",
  "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
]);

/**
 * After a switch-over, old connections lead to a read-only replica, and new ones to the new primary. A connection that
 * only reads never fails there. Each refused write therefore begins an epoch, and connections of earlier epochs are not
 * used again. ADR 0032
 */
let epoch = 0;
const openedIn = new WeakMap<object, number>();
/** The driver's pools that have opened no connection since their last refused write. */
const refused = new WeakSet<object>();

/** Notes that a pool of the driver opened a connection. */
export function noteOpened(pool: object, connection: object): void {
  // Since the refused write, other pools may have connected while the address still led to the old server. The new
  // epoch makes those connections outdated.
  if (refused.delete(pool)) epoch += 1;
  openedIn.set(connection, epoch);
}

/** Notes that a statement failed on a connection of one of the driver's pools. */
export function noteFailure(pool: object, failure: unknown): void {
  // Keeps the connections to a vtgate if one shard is read-only, because new ones would lead to the same shard.
  if (!isReadOnly(failure) || isFromShard(failure)) return;
  refused.add(pool);
  epoch += 1;
}

/** Tells whether a connection was opened before the last epoch began, so that its server may be read-only now. */
export function isOutdated(connection: object): boolean {
  return epoch > 0 && (openedIn.get(connection) ?? epoch) < epoch;
}

/** Tells whether a statement failed because its server is read-only. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof Error && "code" in error && READ_ONLY_CODES.has(String(error.code));
}
