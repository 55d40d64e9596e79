import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/harness/database.ts";
import { Permission } from "../caller.ts";
import { createPool, type Pool } from "../database/pool.ts";
import { newId } from "../ids.ts";
import { newServiceCredential, PERMISSION_NAMES } from "./service-credential.ts";
import {
  findServiceCredentialByHash,
  insertServiceCredential,
  listServiceCredentials,
  revokeServiceCredential,
} from "./service-credential-store.ts";

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 2);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

it("finds a credential with its permissions until it is revoked", async () => {
  const { hash } = newServiceCredential();
  const credential = { id: newId(), name: "gateway ★", permissions: new Set(PERMISSION_NAMES) };
  await insertServiceCredential(pool, credential, hash);
  expect(await findServiceCredentialByHash(pool, hash)).toEqual(credential);
  expect(await findServiceCredentialByHash(pool, newServiceCredential().hash)).toBeUndefined();

  expect(await revokeServiceCredential(pool, credential.id)).toBe(true);
  expect(await revokeServiceCredential(pool, credential.id)).toBe(true);
  expect(await revokeServiceCredential(pool, newId())).toBe(false);
  expect(await findServiceCredentialByHash(pool, hash)).toBeUndefined();
  expect(await listServiceCredentials(pool)).toContainEqual({ ...credential, revoked: true });
});

it("allows nothing by a permission that it does not know", async () => {
  const { hash } = newServiceCredential();
  const permissions = new Set([Permission.ActivityRead]);
  await insertServiceCredential(pool, { id: newId(), name: "newer", permissions }, hash);
  await database.query(
    "UPDATE service_credential SET permissions = 'activity.read future.permission' WHERE name = 'newer'",
  );
  expect((await findServiceCredentialByHash(pool, hash))?.permissions).toEqual(permissions);
});
