import { DatabaseTimeoutError } from "./deadline.ts";
import { isFromShard } from "./shard-error.ts";

/** Error numbers: the server ended one statement or connection, after KILL QUERY, KILL or a statement's time limit. */
const STATEMENT_ENDED: ReadonlySet<unknown> = new Set([1317, 1927, 1969, 3024]);
/** Error codes of a server that cannot serve now: overload, shutdown, locks, disk, read-only. */
const OUTAGE_CODES = new Set([
  "ER_CON_COUNT_ERROR",
  "ER_TOO_MANY_USER_CONNECTIONS",
  "ER_USER_LIMIT_REACHED",
  "ER_SERVER_SHUTDOWN",
  "ER_NORMAL_SHUTDOWN",
  "ER_LOCK_WAIT_TIMEOUT",
  "ER_NEW_ABORTING_CONNECTION",
  "ER_DISK_FULL",
  "ER_RECORD_FILE_FULL",
  "ER_OPTION_PREVENTS_STATEMENT",
  "ER_READ_ONLY_MODE",
  "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
  "ER_OUT_OF_RESOURCES",
  "ER_OUTOFMEMORY",
  "ER_MAX_PREPARED_STMT_COUNT_REACHED",
  "ER_ACCESS_DENIED_ERROR",
  "ER_DBACCESS_DENIED_ERROR",
  "ER_BAD_DB_ERROR",
]);
/** Error numbers of a server that cannot serve now. The driver has no code for some, and a wrong code for 1047. */
const OUTAGE_NUMBERS: ReadonlySet<unknown> = new Set([
  1026, // A file could not be written, for example on a full disk.
  1030, // The storage engine failed.
  1047, // Galera: the node is not ready.
  1129, // The server refuses this host after many broken handshakes.
  1135, // The server has no thread for a new connection.
  1180, // The commit failed.
  1206, // There are too many locks.
  1637, // Too many transactions.
  3032, // The server is in offline mode.
  3100, // Group Replication: the group did not answer.
  4031, // The server ended an idle session.
  9001, // ProxySQL: no server could be reached in time.
  9002, // ProxySQL: no server could be reached.
  ...STATEMENT_ENDED,
]);
/** The message of the driver's error when its queue exceeds `queueLimit`. The error has no code. */
const QUEUE_FULL = "Queue limit reached.";
/** The message of the driver's error for a call on a closed pool, when the process stops. The error has no code. */
const POOL_CLOSED = "Pool is closed.";
/** SQLSTATE class 08: the connection to the server failed. */
const CONNECTION_FAILED = "08";
/** SQLSTATE class 40: the server rolled the transaction back, after a deadlock or another conflict. */
const ROLLED_BACK = "40";
/** MariaDB's error number for a rollback, because with snapshot isolation another transaction changed a row. */
const ROW_CHANGED = 1020;

/**
 * Tells whether a failure means that the database cannot be reached, is overloaded or answers late. Such a failure
 * is temporary.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof DatabaseTimeoutError) return true;
  // The driver marks lost connections as fatal. Some of these failures have no code.
  if (error instanceof Error && "fatal" in error && error.fatal === true) return true;
  if (isShardAway(error)) return true;
  if (!(error instanceof Error)) return false;
  if (error.message === QUEUE_FULL || error.message === POOL_CLOSED) return true;
  if ("errno" in error && OUTAGE_NUMBERS.has(error.errno)) return true;
  if (isOfClass(error, CONNECTION_FAILED) || isDeadlock(error)) return true;
  if (!("code" in error) || typeof error.code !== "string") return false;
  if (OUTAGE_CODES.has(error.code)) return true;
  // Failures of the network and of the driver's connections carry no SQL state. Codes of bugs begin with `ERR_`.
  return !("sqlState" in error) && /^(E(?!RR_)[A-Z]+|PROTOCOL_|POOL_|HANDSHAKE_)/.test(error.code);
}

/**
 * Messages of a vtgate that cannot reach a shard's primary, is moving shards, or does not know the columns yet. Other
 * errors of a vtgate have the same number, so only the message distinguishes these.
 */
const SHARD_AWAY = new RegExp(
  [
    ": (no healthy tablet available|primary is not serving|current keyspace is being resharded)",
    "rpc error: code = (Unavailable|Code\\(17\\)) ",
    "operation not allowed in state",
    "disallowed due to rule: enforce denied tables",
    "inconsistent state detected, primary is serving",
    "destination shard is missing after a resharding operation",
    "primary buffer is full",
    "buffer full: request evicted",
    "context was canceled before failover finished",
    "(wrong|invalid) tablet type",
    "VT14002: |VT14003: |VT09015: ",
  ].join("|"),
);

/**
 * Tells whether a vtgate could not reach a shard, or a vttablet could not reach its MySQL. The other shards serve.
 * Error numbers from 2000 to 2999 come from clients, and a vttablet is a client of MySQL. ADR 0048
 */
function isShardAway(error: unknown): boolean {
  if (!(error instanceof Error) || !("sqlState" in error)) return false;
  const errno = "errno" in error ? Number(error.errno) : 0;
  return (errno >= 2000 && errno < 3000) || SHARD_AWAY.test(error.message);
}

/** Tells whether a failure is of a single shard that is away, read-only or overloaded. The other shards serve. */
function isOfOneShard(error: unknown): boolean {
  return isShardAway(error) || isFromShard(error);
}

/** Tells whether a transaction lost a deadlock or another conflict, so that it may run again. */
export function isDeadlock(error: unknown): boolean {
  const isChanged = error instanceof Error && "errno" in error && error.errno === ROW_CHANGED;
  return isChanged || isOfClass(error, ROLLED_BACK);
}

function isOfClass(error: unknown, sqlStateClass: string): boolean {
  return (
    error instanceof Error && "sqlState" in error && `${error.sqlState}`.startsWith(sqlStateClass)
  );
}

/**
 * Tells whether the database cannot be reached or does not answer, so that other transactions would fail too. This
 * excludes failures of a lock, of one statement or of a single shard.
 */
export function isConnectionLost(error: unknown): boolean {
  return isOutage(error) && !isDeadlock(error) && !isOfOneStatement(error) && !isOfOneShard(error);
}

function isOfOneStatement(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errno" in error && STATEMENT_ENDED.has(error.errno)) return true;
  return "code" in error && error.code === "ER_LOCK_WAIT_TIMEOUT";
}

/** Tells whether a statement failed because a row with one of its unique keys already exists. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ER_DUP_ENTRY";
}
