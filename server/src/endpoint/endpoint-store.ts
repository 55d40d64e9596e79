import type { Insert, Table } from "../database/change.ts";
import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { PENDING_SECRET_FROM } from "../signing-secret/signing-secret-store.ts";

/** A stored endpoint that is not deleted, without its secret. */
export type EndpointRecord = {
  readonly id: string;
  /** Empty if the endpoint has no name. */
  readonly name: string;
  readonly url: string;
  /** Bits from `kindBits`. */
  readonly kinds: number;
  readonly standardWebhooks: boolean;
  readonly minAmountCents: number;
  readonly switchedOn: boolean;
  readonly createdAt: number;
  /** When the next secret begins to sign, in microseconds; `undefined` if no rotation is pending. */
  readonly nextSecretFrom: number | undefined;
};

export type NewEndpoint = Omit<EndpointRecord, "switchedOn" | "nextSecretFrom"> & {
  readonly accountNo: number;
  readonly secret: Buffer;
};

type Row = RowDataPacket & {
  id: string;
  name: string;
  url: string;
  kinds: number;
  standard_webhooks: number;
  min_amount_cents: number;
  switched_on: number;
  created_at: number;
  pending_from: number | null;
};

const COLUMNS = `id, name, url, kinds, standard_webhooks, min_amount_cents, switched_on, created_at,
  ${PENDING_SECRET_FROM} AS pending_from`;

/** Looks up the endpoints of accounts, except deleted endpoints. */
export const endpointsOf = lookupOf<Row, EndpointRecord>({
  select: `SELECT account_no, ${COLUMNS} FROM endpoint`,
  key: ["account_no"],
  ending: "AND deleted_at IS NULL",
  fromRow: endpointFromRow,
});

const NO_NEXT_SECRET = "next_secret = NULL, next_secret_from = NULL";

const ENDPOINT: Table = {
  insert: `INSERT INTO endpoint
    (account_no, id, name, url, kinds, standard_webhooks, min_amount_cents, switched_on, secret, created_at)`,
};

/** Stores a new endpoint that is switched on. */
export function storeEndpoint(endpoint: NewEndpoint): Insert {
  const { accountNo, id, name, url, kinds, standardWebhooks, minAmountCents, ...others } = endpoint;
  const { secret, createdAt, ...rest } = others;
  // A new field does not compile until this statement stores it.
  rest satisfies Record<string, never>;
  return {
    into: ENDPOINT,
    row: [
      ...[accountNo, id, name, url, kinds, standardWebhooks, minAmountCents, true],
      ...[secret, createdAt],
    ],
  };
}

export async function findEndpoint(
  pool: Pool,
  accountNo: number,
  id: string,
): Promise<EndpointRecord | undefined> {
  const [row] = await queryWithin<Row[]>(
    pool,
    `SELECT ${COLUMNS} FROM endpoint WHERE account_no = ? AND id = ? AND deleted_at IS NULL`,
    [accountNo, id],
  );
  return row && endpointFromRow(row);
}

/** Lists the endpoints of an account, oldest first. */
export async function listEndpoints(pool: Pool, accountNo: number): Promise<EndpointRecord[]> {
  const rows = await queryWithin<Row[]>(
    pool,
    `SELECT ${COLUMNS} FROM endpoint WHERE account_no = ? AND deleted_at IS NULL ORDER BY created_at, id`,
    [accountNo],
  );
  return rows.map(endpointFromRow);
}

/** Stores the fields of an endpoint that its owner can change. */
export function updateEndpoint(accountNo: number, endpoint: EndpointRecord): Statement {
  const { createdAt, nextSecretFrom, ...fields } = endpoint;
  const { id, name, url, kinds, standardWebhooks, minAmountCents, switchedOn, ...rest } = fields;
  // A new field does not compile until this statement stores it.
  rest satisfies Record<string, never>;
  return {
    sql: `UPDATE endpoint SET name = ?, url = ?, kinds = ?, standard_webhooks = ?, min_amount_cents = ?,
        switched_on = ? WHERE account_no = ? AND id = ?`,
    values: [name, url, kinds, standardWebhooks, minAmountCents, switchedOn, accountNo, id],
  };
}

/** Replaces the encrypted secret of an endpoint at once, and deletes the next one. */
export function updateSecret(accountNo: number, id: string, secret: Buffer): Statement {
  return {
    sql: `UPDATE endpoint SET secret = ?, ${NO_NEXT_SECRET} WHERE account_no = ? AND id = ?`,
    values: [secret, accountNo, id],
  };
}

/**
 * Stores the encrypted secret that signs from `fromMicros` on; no rotation may be pending. An earlier rotation's
 * secret, if any, signs until then.
 */
export function storeNextSecret(
  accountNo: number,
  id: string,
  secret: Buffer,
  fromMicros: number,
): Statement {
  return {
    sql: `UPDATE endpoint SET secret = COALESCE(next_secret, secret),
        next_secret = ?, next_secret_from = ?
      WHERE account_no = ? AND id = ?`,
    values: [secret, fromMicros, accountNo, id],
  };
}

/** Deletes the next secret of an endpoint whose rotation is pending. */
export function deleteNextSecret(accountNo: number, id: string): Statement {
  return {
    sql: `UPDATE endpoint SET ${NO_NEXT_SECRET} WHERE account_no = ? AND id = ?`,
    values: [accountNo, id],
  };
}

/**
 * A deleted endpoint's row stays while deliveries to it run, but without name, URL and secrets. Add every new text
 * here: the compiler does not notice its absence.
 */
const ERASE = `SET deleted_at = ?, switched_on = FALSE, name = '', url = '', secret = '', ${NO_NEXT_SECRET}`;

export function markEndpointDeleted(accountNo: number, id: string, nowMicros: number): Statement {
  return {
    sql: `UPDATE endpoint ${ERASE} WHERE account_no = ? AND id = ? AND deleted_at IS NULL`,
    values: [nowMicros, accountNo, id],
  };
}

export function markEndpointsDeleted(accountNo: number, nowMicros: number): Statement {
  return {
    sql: `UPDATE endpoint ${ERASE} WHERE account_no = ? AND deleted_at IS NULL`,
    values: [nowMicros, accountNo],
  };
}

function endpointFromRow(row: Row): EndpointRecord {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    kinds: row.kinds,
    standardWebhooks: row.standard_webhooks === 1,
    minAmountCents: row.min_amount_cents,
    switchedOn: row.switched_on === 1,
    createdAt: row.created_at,
    nextSecretFrom: row.pending_from ?? undefined,
  };
}
