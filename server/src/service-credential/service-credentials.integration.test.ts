import { afterAll, beforeAll, expect, it } from "vitest";
import { unique } from "../../../test/harness/builders.ts";
import { useTestDatabase } from "../../../test/harness/database.ts";
import { createPool, type Pool } from "../database/pool.ts";
import { newServiceCredential, PERMISSION_NAMES } from "./service-credential.ts";
import { insertServiceCredential, revokeServiceCredential } from "./service-credential-store.ts";
import { createServiceCredentials } from "./service-credentials.ts";

const database = useTestDatabase();
let pool: Pool;
beforeAll(() => {
  pool = createPool(database.url, 2);
});
afterAll(() => pool.end());

it("a credential is counted once by concurrent calls, and not again once it is found. ADR 0037", async () => {
  const { hash, secret: text } = newServiceCredential();
  const credential = {
    name: unique("service"),
    permissions: new Set(PERMISSION_NAMES),
    accountId: undefined,
  };
  await insertServiceCredential(pool, credential, 30, hash);
  const credentials = createServiceCredentials(pool, () => performance.now());
  let counted = 0;
  const find = () => credentials.find(text, async () => void counted++);
  const found = await Promise.all(Array.from({ length: 50 }, find));
  expect(found.map((one) => one?.name)).toEqual(Array(50).fill(credential.name));
  await find();
  expect(counted).toBe(1);
});

it("an unknown credential is counted by each call, and is looked up again after a failed count", async () => {
  const { secret: text } = newServiceCredential();
  const credentials = createServiceCredentials(pool, () => performance.now());
  let counted = 0;
  for (let call = 0; call < 3; call++) {
    expect(await credentials.find(text, async () => void counted++)).toBeUndefined();
  }
  expect(counted).toBe(3);
  const refuse = () => Promise.reject(new Error("over the limit"));
  await expect(credentials.find(text, refuse)).rejects.toThrow("over the limit");
  expect(await credentials.find(text, async () => {})).toBeUndefined();
});

it("a revoked credential is refused after five seconds, and at once if it was not seen before. ADR 0011", async () => {
  const { hash, secret: text } = newServiceCredential();
  const name = unique("service");
  const permissions = new Set(PERMISSION_NAMES);
  await insertServiceCredential(pool, { name, permissions, accountId: undefined }, 30, hash);
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
