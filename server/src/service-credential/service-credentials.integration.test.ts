import { afterAll, beforeAll, expect, it } from "vitest";
import { unique } from "../../../test/harness/builders.ts";
import { useTestDatabase } from "../../../test/harness/database.ts";
import { newId } from "../common/ids.ts";
import { createPool, type Pool } from "../database/pool.ts";
import { Permission } from "./permission.ts";
import { newServiceCredential, PERMISSION_NAMES } from "./service-credential.ts";
import {
  findServiceCredentialByHash,
  insertServiceCredential,
  listServiceCredentials,
  renewServiceCredential,
  revokeServiceCredential,
} from "./service-credential-store.ts";
import { createServiceCredentials } from "./service-credentials.ts";

const DAY_MICROS = 86_400_000_000;

const database = useTestDatabase();
let pool: Pool;
beforeAll(() => {
  pool = createPool(database.url, 2);
});
afterAll(() => pool.end());

/** Stores a credential of thirty days and returns it with its hash and text. */
async function insert(permissions = new Set(PERMISSION_NAMES)) {
  const { hash, secret: text } = newServiceCredential();
  const credential = { name: unique("service"), permissions, accountId: newId() };
  expect(await insertServiceCredential(pool, credential, 30, hash)).toBe(true);
  return { credential, hash, text };
}

/** Ages a credential by `days`: moves its end back. */
const age = (name: string, days: number) =>
  database.query("UPDATE service_credential SET expires_at = expires_at - ? WHERE name = ?", [
    days * DAY_MICROS,
    name,
  ]);

const listed = async (name: string) =>
  (await listServiceCredentials(pool)).find((credential) => credential.name === name);

it("finds a credential until its last day is over", async () => {
  const { credential, hash } = await insert();
  const { createdAtMicros = 0, expiresAtMicros } = (await listed(credential.name)) ?? {};
  expect(expiresAtMicros).toBe(createdAtMicros + 30 * DAY_MICROS);
  await age(credential.name, 29.9);
  expect(await findServiceCredentialByHash(pool, hash)).toEqual(credential);
  await age(credential.name, 0.1);
  expect(await findServiceCredentialByHash(pool, hash)).toBeUndefined();
  expect(await listed(credential.name)).toMatchObject({ state: "expired" });
});

it("renews only an active credential", async () => {
  const active = await insert();
  await age(active.credential.name, 29);
  expect(await renewServiceCredential(pool, active.hash, 30)).toBe(true);
  await age(active.credential.name, 29);
  expect(await findServiceCredentialByHash(pool, active.hash)).toEqual(active.credential);

  const expired = await insert();
  await age(expired.credential.name, 30);
  const revoked = await insert();
  await revokeServiceCredential(pool, revoked.credential.name);
  for (const { hash } of [expired, revoked]) {
    expect(await renewServiceCredential(pool, hash, 30)).toBe(false);
    expect(await findServiceCredentialByHash(pool, hash)).toBeUndefined();
  }
});

it("ignores a permission that it does not know", async () => {
  const permissions = new Set([Permission.ActivityRead]);
  const { credential, hash } = await insert(permissions);
  await database.query(
    "UPDATE service_credential SET permissions = 'activity.read future.permission' WHERE name = ?",
    [credential.name],
  );
  expect((await findServiceCredentialByHash(pool, hash))?.permissions).toEqual(permissions);
});

it("a credential is counted once by concurrent calls, and not again once it is found. ADR 0037", async () => {
  const { credential, text } = await insert();
  const credentials = createServiceCredentials(pool, () => performance.now());
  let counted = 0;
  const find = () => credentials.find(text, async () => void counted++);
  const found = await Promise.all(Array.from({ length: 50 }, find));
  expect(found.map((one) => one?.name)).toEqual(Array(50).fill(credential.name));
  await find();
  expect(counted).toBe(1);
});

it("an unknown credential is counted and looked up once in five seconds, and again after a failed count. ADR 0033", async () => {
  const { secret: text, hash } = newServiceCredential();
  let nowMs = 0;
  const credentials = createServiceCredentials(pool, () => nowMs);
  let counted = 0;
  const find = () => credentials.find(text, async () => void counted++);
  const refuse = () => Promise.reject(new Error("over the limit"));
  await expect(credentials.find(text, refuse)).rejects.toThrow("over the limit");
  for (let call = 0; call < 3; call++) expect(await find()).toBeUndefined();
  expect(counted).toBe(1);
  nowMs = 4_999;
  const credential = { name: unique("service"), permissions: new Set(PERMISSION_NAMES) };
  await insertServiceCredential(pool, { ...credential, accountId: undefined }, 30, hash);
  expect(await find()).toBeUndefined();
  nowMs = 5_000;
  expect(await find()).toMatchObject({ name: credential.name });
  expect(counted).toBe(2);
});

it("1,000 unknown credentials are cached, and one more removes the oldest. ADR 0033", async () => {
  const credentials = createServiceCredentials(pool, () => 0);
  let counted = 0;
  const find = (text: string) => credentials.find(text, async () => void counted++);
  const oldest = newServiceCredential().secret;
  const others = Array.from({ length: 1_000 }, () => newServiceCredential().secret);
  await find(oldest);
  await Promise.all(others.map(find));
  await Promise.all(others.map(find));
  expect(counted).toBe(1_001);
  await find(oldest);
  expect(counted).toBe(1_002);
});

it("a revoked credential is refused after five seconds, and at once if it was not seen before. ADR 0033", async () => {
  const { credential, text } = await insert();
  const { name } = credential;
  let nowMs = 0;
  const seen = createServiceCredentials(pool, () => nowMs);
  const find = (credentials: typeof seen) => credentials.find(text, async () => {});
  expect(await find(seen)).toMatchObject({ name });
  await revokeServiceCredential(pool, name);
  nowMs = 4_999;
  expect(await find(seen)).toMatchObject({ name });
  expect(await find(createServiceCredentials(pool, () => nowMs))).toBeUndefined();
  nowMs = 5_000;
  expect(await find(seen)).toBeUndefined();
});
