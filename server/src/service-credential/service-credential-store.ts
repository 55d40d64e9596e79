import type { Permission } from "../caller.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Queryable, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { isPermission } from "./service-credential.ts";

/** An internal service that may call, and what it may do. */
export type ServiceCredential = {
  readonly id: string;
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
};

/** As an operator sees it. */
export type ListedServiceCredential = ServiceCredential & { readonly revoked: boolean };

type Row = RowDataPacket & { id: string; name: string; permissions: string };
type ListedRow = Row & { revoked_at: number | null };

/** Stores a credential that works from now on. */
export async function insertServiceCredential(
  db: Queryable,
  { id, name, permissions }: ServiceCredential,
  hash: Buffer,
): Promise<void> {
  await db.execute(
    `INSERT INTO service_credential (credential_hash, id, name, permissions, created_at)
     VALUES (?, ?, ?, ?, ${NOW_MICROS})`,
    [hash, id, name, [...permissions].join(" ")],
  );
}

/** Finds a credential that is not revoked. */
export async function findServiceCredentialByHash(
  db: Queryable,
  hash: Buffer,
): Promise<ServiceCredential | undefined> {
  const [rows] = await db.execute<Row[]>(
    `SELECT id, name, permissions FROM service_credential
     WHERE credential_hash = ? AND revoked_at IS NULL`,
    [hash],
  );
  return rows[0] && serviceCredentialFromRow(rows[0]);
}

/** Lists all credentials, oldest first, the revoked ones included. */
export async function listServiceCredentials(db: Queryable): Promise<ListedServiceCredential[]> {
  const [rows] = await db.execute<ListedRow[]>(
    "SELECT id, name, permissions, revoked_at FROM service_credential ORDER BY created_at, id",
  );
  return rows.map((row) => ({
    ...serviceCredentialFromRow(row),
    revoked: row.revoked_at !== null,
  }));
}

/** Revokes a credential, and returns whether there is one; the first time stays. */
export async function revokeServiceCredential(db: Queryable, id: string): Promise<boolean> {
  const [result] = await db.execute<ResultSetHeader>(
    `UPDATE service_credential SET revoked_at = COALESCE(revoked_at, ${NOW_MICROS}) WHERE id = ?`,
    [id],
  );
  return result.affectedRows === 1;
}

/** A permission that this version does not know allows nothing. */
function serviceCredentialFromRow({ id, name, permissions }: Row): ServiceCredential {
  return { id, name, permissions: new Set(permissions.split(" ").filter(isPermission)) };
}
