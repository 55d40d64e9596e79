import { createHash } from "node:crypto";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, it } from "vitest";
import { textOf } from "../../../test/harness/database.ts";
import { useServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../common/errors.ts";
import { requiredMicros } from "../common/timestamps.ts";
import { hashApiKey } from "./api-key.ts";

const services = useServices();
let accountId: string;
beforeEach(async () => {
  accountId = await services.createAccount();
});

async function createKey(name = "key", validityDays = 30) {
  const forget = "UPDATE account SET api_key_created_at = NULL WHERE id = ?";
  await services.database.query(forget, [accountId]);
  const answer = await services.apiKeys.createApiKey({ accountId, name, validityDays });
  if (answer.apiKey === undefined) throw new Error("no key");
  return { ...answer.apiKey, secret: answer.secret };
}

const setExpiry = (id: string, micros: string) =>
  services.database.query(`UPDATE api_key SET expires_at = ${micros} WHERE id = ?`, [id]);

const micros = (at: Timestamp | undefined) => Number(requiredMicros(at, "time"));
const DAY_MICROS = 86_400_000_000;

describe("a new API key", () => {
  it("is shown in full once, and stored as a hash", async () => {
    const { secret, id, prefix } = await createKey("my key 😀");
    expect(secret).toMatch(/^act_live_[0-9a-f]{64}$/);
    expect(prefix).toBe(secret.slice(0, 17));
    const [row] = await services.database.query<object>("SELECT * FROM api_key WHERE id = ?", [id]);
    const hash = createHash("sha256").update(secret).digest();
    expect(row).toMatchObject({ key_hash: hash, name: "my key 😀" });
    expect(textOf(row)).not.toContain(secret.slice(17));
  });

  it.each([30, 90, 365])("works for %i days to the microsecond", async (days) => {
    const { createdAt, expiresAt, active } = await createKey("key", days);
    expect(active).toBe(true);
    expect(micros(expiresAt) - micros(createdAt)).toBe(days * DAY_MICROS);
  });

  it("is refused within a minute of the last, also when two calls race", async () => {
    const create = () => services.apiKeys.createApiKey({ accountId, name: "a", validityDays: 30 });
    const answers = await Promise.allSettled(Array.from({ length: 5 }, create));
    expect(answers.filter((answer) => answer.status === "fulfilled")).toHaveLength(1);
    const recently = { code: ErrorCode.ApiKeyCreatedRecently };
    await expect(create()).rejects.toMatchObject(recently);
    const age = (micros: number) =>
      services.database.query(
        "UPDATE account SET api_key_created_at = api_key_created_at - ? WHERE id = ?",
        [micros, accountId],
      );
    await age(55_000_000);
    const message = expect.stringMatching(/in [1-5] s/);
    await expect(create()).rejects.toMatchObject({ ...recently, message });
    await age(5_000_000);
    expect((await create()).apiKey?.active).toBe(true);
    // Acts as if the database's clock had stepped back by an hour.
    await age(-3_600_000_000);
    expect((await create()).apiKey?.active).toBe(true);
  });

  it("is refused as the eleventh active one, not counting expired and revoked ones", async () => {
    const keys = [];
    for (let count = 0; count < 10; count++) keys.push(await createKey());
    await expect(createKey()).rejects.toMatchObject({ code: ErrorCode.ApiKeyLimitReached });
    // A refused call does not delay the next one by a minute.
    const created = "SELECT api_key_created_at FROM account WHERE id = ?";
    const [row] = await services.database.query(created, [accountId]);
    expect(row).toEqual({ api_key_created_at: null });
    await setExpiry(keys[0]?.id ?? "", "created_at");
    await createKey();
    await expect(createKey()).rejects.toMatchObject({ code: ErrorCode.ApiKeyLimitReached });
    await services.apiKeys.revokeApiKey({ accountId, apiKeyId: keys[1]?.id ?? "" });
    expect((await createKey()).active).toBe(true);
  });
});

describe("renewing an API key", () => {
  it("counts the new validity from now and keeps the secret", async () => {
    const { id, createdAt, secret } = await createKey("key", 365);
    // Acts as if the key had been created ten days earlier. `createdAt` keeps the real time.
    const age = "UPDATE api_key SET created_at = created_at - ? WHERE id = ?";
    await services.database.query(age, [10 * DAY_MICROS, id]);
    const renewal = { accountId, apiKeyId: id, validityDays: 30 };
    const { apiKey } = await services.apiKeys.renewApiKey(renewal);
    const added = micros(apiKey?.expiresAt) - micros(createdAt);
    expect(added).toBeGreaterThanOrEqual(30 * DAY_MICROS);
    expect(added).toBeLessThan(31 * DAY_MICROS);
    expect(apiKey?.id).toBe(id);
    expect(micros(createdAt) - micros(apiKey?.createdAt)).toBe(10 * DAY_MICROS);
    const stored = "SELECT key_hash FROM api_key WHERE id = ?";
    const [row] = await services.database.query(stored, [id]);
    expect(row).toEqual({ key_hash: hashApiKey(secret) });
  });

  it("is refused for a key that is expired, revoked or another account's", async () => {
    const renew = (apiKeyId: string, owner = accountId) =>
      services.apiKeys.renewApiKey({ accountId: owner, apiKeyId, validityDays: 30 });
    const expired = await createKey();
    await setExpiry(expired.id, "created_at");
    const notActive = { code: ErrorCode.ApiKeyNotActive };
    await expect(renew(expired.id)).rejects.toMatchObject(notActive);
    const revoked = await createKey();
    await services.apiKeys.revokeApiKey({ accountId, apiKeyId: revoked.id });
    await expect(renew(revoked.id)).rejects.toMatchObject(notActive);
    const stranger = await services.createAccount();
    await expect(renew(revoked.id, stranger)).rejects.toMatchObject({
      code: ErrorCode.ApiKeyNotFound,
    });
  });
});

it("revoking an API key keeps the first time when it is revoked again", async () => {
  const { id: apiKeyId } = await createKey();
  const { apiKey: once } = await services.apiKeys.revokeApiKey({ accountId, apiKeyId });
  expect(once).toMatchObject({ active: false });
  expect(once?.revokedAt).toBeDefined();
  const { apiKey: twice } = await services.apiKeys.revokeApiKey({ accountId, apiKeyId });
  expect(twice).toEqual(once);
  const unknown = { accountId, apiKeyId: "0".repeat(15) };
  await expect(services.apiKeys.revokeApiKey(unknown)).rejects.toMatchObject({
    code: ErrorCode.ApiKeyNotFound,
  });
});

it("lists the keys of an account, newest first, including revoked ones", async () => {
  const names = ["one", "two", "three"];
  const ids: string[] = [];
  for (const name of names) ids.push((await createKey(name)).id);
  await services.apiKeys.revokeApiKey({ accountId, apiKeyId: ids[1] ?? "" });
  const { apiKeys } = await services.apiKeys.listApiKeys({ accountId });
  expect(apiKeys.map(({ name, active }) => [name, active])).toEqual([
    ["three", true],
    ["two", false],
    ["one", true],
  ]);
  await services.database.query("UPDATE api_key SET created_at = 0 WHERE id IN (?)", [ids]);
  const tied = await services.apiKeys.listApiKeys({ accountId });
  expect(tied.apiKeys.map(({ id }) => id)).toEqual(ids.sort().reverse());
});
