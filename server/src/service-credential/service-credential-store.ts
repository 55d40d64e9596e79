import { NOW_MICROS } from "../database/now.ts";
import { isDuplicate } from "../database/outage.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import type { Permission } from "./permission.ts";
import { isPermission } from "./service-credential.ts";

export type ServiceCredential = {
  /** Unique among all credentials that ever existed. */
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
  /** The one account that it is for; `undefined` for all accounts. */
  readonly accountId: string | undefined;
};

/** A credential as an operator sees it; times are microseconds since 1970-01-01T00:00:00Z. */
export type ListedServiceCredential = ServiceCredential & {
  readonly state: "active" | "expired" | "revoked";
  readonly createdAtMicros: number;
  readonly expiresAtMicros: number;
};

type Row = RowDataPacket & { name: string; permissions: string; account_id: string | null };
type ListedRow = Row & {
  created_at: number;
  expires_at: number;
  is_expired: number;
  revoked_at: number | null;
};

const DAY_MICROS = 86_400_000_000;

/** Stores a credential that works for `validityDays` from now. Returns false if its name is taken. */
export async function insertServiceCredential(
  pool: Pool,
  { name, permissions, accountId }: ServiceCredential,
  validityDays: number,
  hash: Buffer,
): Promise<boolean> {
  try {
    await queryWithin<ResultSetHeader>(
      pool,
      `INSERT INTO service_credential
         (credential_hash, name, permissions, account_id, created_at, expires_at)
       VALUES (?, ?, ?, ?, ${NOW_MICROS}, ${NOW_MICROS} + ?)`,
      [hash, name, [...permissions].join(" "), accountId ?? null, validityDays * DAY_MICROS],
    );
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** Finds a credential that is neither revoked nor expired. */
export async function findServiceCredentialByHash(
  pool: Pool,
  hash: Buffer,
): Promise<ServiceCredential | undefined> {
  const [row] = await queryWithin<Row[]>(
    pool,
    `SELECT name, permissions, account_id FROM service_credential
     WHERE credential_hash = ? AND revoked_at IS NULL AND expires_at > ${NOW_MICROS}`,
    [hash],
  );
  return row && serviceCredentialFromRow(row);
}

/** Lists all credentials, revoked and expired ones too, oldest first. */
export async function listServiceCredentials(pool: Pool): Promise<ListedServiceCredential[]> {
  const rows = await queryWithin<ListedRow[]>(
    pool,
    `SELECT name, permissions, account_id, created_at, expires_at, revoked_at,
       expires_at <= ${NOW_MICROS} AS is_expired
     FROM service_credential ORDER BY created_at, name`,
    [],
  );
  return rows.map((row) => ({
    ...serviceCredentialFromRow(row),
    state: stateOf(row),
    createdAtMicros: row.created_at,
    expiresAtMicros: row.expires_at,
  }));
}

/** Revokes a credential and returns whether it exists. A repeated call keeps the time of the first. */
export async function revokeServiceCredential(pool: Pool, name: string): Promise<boolean> {
  const { affectedRows } = await queryWithin<ResultSetHeader>(
    pool,
    `UPDATE service_credential SET revoked_at = COALESCE(revoked_at, ${NOW_MICROS}) WHERE name = ?`,
    [name],
  );
  return affectedRows === 1;
}

/** Makes a credential expire `validityDays` from now. Returns false unless it is active. */
export async function renewServiceCredential(
  pool: Pool,
  hash: Buffer,
  validityDays: number,
): Promise<boolean> {
  const { affectedRows } = await queryWithin<ResultSetHeader>(
    pool,
    `UPDATE service_credential SET expires_at = ${NOW_MICROS} + ?
     WHERE credential_hash = ? AND revoked_at IS NULL AND expires_at > ${NOW_MICROS}`,
    [validityDays * DAY_MICROS, hash],
  );
  return affectedRows === 1;
}

/** Ignores a permission that this version does not know. */
function serviceCredentialFromRow({ name, permissions, account_id }: Row): ServiceCredential {
  return {
    name,
    permissions: new Set(permissions.split(" ").filter(isPermission)),
    accountId: account_id ?? undefined,
  };
}

function stateOf(row: ListedRow): ListedServiceCredential["state"] {
  if (row.revoked_at !== null) return "revoked";
  return row.is_expired === 1 ? "expired" : "active";
}
