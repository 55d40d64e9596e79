import { randomBytes } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { useTestDatabase } from "../../../test/harness/database.ts";
import { newId } from "../common/ids.ts";
import { reencryptSecrets } from "./reencrypt-secrets.ts";
import {
  createSecretKey,
  decryptSecret,
  encryptSecret,
  keyNameOf,
  nameOf,
  type SecretKey,
} from "./secret-cipher.ts";
import { newSigningSecret } from "./signing-secret.ts";

const newKey = () => createSecretKey(randomBytes(32));
const [young, old, older, foreign] = [newKey(), newKey(), newKey(), newKey()];
const KEYS = [young, old, older] as const;

type Row = { id: string; secret: Buffer; next_secret: Buffer | null };

const database = useTestDatabase();
beforeEach(() => database.query("DELETE FROM endpoint"));

/**
 * Stores an endpoint with a secret under `key`, and a next one under `nextKey` if given. Returns its id and secrets.
 */
async function store(key: SecretKey, nextKey?: SecretKey, accountNo = 1) {
  const id = newId();
  const [secret, next] = [newSigningSecret(), newSigningSecret()];
  await database.query(
    `INSERT INTO endpoint (account_no, id, url, kinds, standard_webhooks, switched_on, secret,
       next_secret, next_secret_from, created_at) VALUES (?, ?, '', 1, FALSE, TRUE, ?, ?, 1, 1)`,
    [
      ...[accountNo, id, encryptSecret([key], id, secret)],
      nextKey === undefined ? null : encryptSecret([nextKey], id, next),
    ],
  );
  return { id, secrets: nextKey === undefined ? [secret] : [secret, next] };
}

const rows = () => database.query<Row>("SELECT id, secret, next_secret FROM endpoint");
const all = ({ secret, next_secret: next }: Row) => (next === null ? [secret] : [secret, next]);
const reencrypt = (dropped?: SecretKey) =>
  reencryptSecrets(database.url, KEYS, dropped && nameOf(dropped));

it("re-encrypts every secret under the first key, next ones too, in pages, and keeps its text", async () => {
  const stored = new Map<string, string[]>();
  for (let number = 0; number < 230; number++) {
    const { id, secrets } = await store(
      number % 2 === 0 ? old : older,
      number % 3 === 0 ? old : undefined,
      1 + Math.floor(number / 10),
    );
    stored.set(id, secrets);
  }
  await store(young);
  const count = [...stored.values()].flat().length;
  expect(await reencrypt()).toEqual({ count, left: new Map(), undecryptable: [] });
  for (const row of await rows()) {
    const secrets = all(row).map((bytes) => decryptSecret([young], row.id, bytes));
    expect(secrets).toEqual(stored.get(row.id) ?? secrets);
  }
  expect(await rows()).toHaveLength(231);
  const before = await rows();
  expect(await reencrypt()).toEqual({ count: 0, left: new Map(), undecryptable: [] });
  expect(await rows()).toEqual(before);
});

it("re-encrypts only the secrets under the dropped key, and counts those under others", async () => {
  const kept = await store(older);
  await store(old, older);
  await store(young, old);
  expect(await reencrypt(old)).toEqual({
    count: 2,
    left: new Map([[nameOf(older), 2]]),
    undecryptable: [],
  });
  const names = (await rows()).flatMap(all).map(keyNameOf);
  expect(names.toSorted()).toEqual([young, young, young, older, older].map(nameOf).toSorted());
  const [row] = (await rows()).filter(({ id }) => id === kept.id);
  expect(row && decryptSecret([older], kept.id, row.secret)).toBe(kept.secrets[0]);
});

it("leaves secrets that it cannot decrypt, names their endpoints, and continues after them", async () => {
  const lacking = await store(foreign, old);
  const broken = await store(old);
  await database.query("UPDATE endpoint SET secret = CONCAT(secret, '!') WHERE id = ?", [
    broken.id,
  ]);
  for (let more = 0; more < 5; more++) await store(old);
  const { count, left, undecryptable } = await reencrypt();
  expect(count).toBe(6);
  expect(left).toEqual(
    new Map([
      [nameOf(foreign), 1],
      [nameOf(old), 1],
    ]),
  );
  expect(undecryptable.toSorted()).toEqual([lacking.id, broken.id].toSorted());
});

it("ignores deleted endpoints, which have no secret", async () => {
  await store(old);
  await database.query("UPDATE endpoint SET deleted_at = 1, secret = '', next_secret = NULL");
  expect(await reencrypt()).toEqual({ count: 0, left: new Map(), undecryptable: [] });
  expect(await rows()).toMatchObject([{ secret: Buffer.alloc(0) }]);
});

it.each([
  ["secret", "secret = ?"],
  ["next secret", "next_secret = ?"],
])("does not overwrite a rotation that replaces the %s meanwhile", async (_, change) => {
  const { id } = await store(old, old);
  const rotated = encryptSecret([old], id, newSigningSecret());
  await database.query("START TRANSACTION");
  await database.query("SELECT id FROM endpoint WHERE id = ? FOR UPDATE", [id]);
  const reencrypting = reencrypt();
  await expect.poll(isWriting).toBe(true);
  await database.query(`UPDATE endpoint SET ${change} WHERE id = ?`, [rotated, id]);
  await database.query("COMMIT");
  expect(await reencrypting).toMatchObject({ count: 0, left: new Map([[nameOf(old), 2]]) });
  const [row] = await rows();
  expect(row && all(row).some((bytes) => bytes.equals(rotated))).toBe(true);
  expect(await reencrypt()).toMatchObject({ count: 2, left: new Map() });
});

/** Tells whether the write of an endpoint waits for its lock. */
const isWriting = () => database.isRunning("UPDATE endpoint SET secret");
