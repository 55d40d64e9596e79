import { createPool, type Pool } from "../database/pool.ts";
import {
  decryptSecret,
  encryptSecret,
  keyNameOf,
  nameOf,
  type SecretKeys,
} from "./secret-cipher.ts";
import {
  type EndpointPosition,
  listSecrets,
  replaceSecrets,
  type StoredSecrets,
} from "./signing-secret-store.ts";

/** Endpoints read at once. */
const PAGE = 100;
const START: EndpointPosition = { accountNo: 0, endpointId: "" };

/** What became of the stored signing secrets, those that do not sign yet or no longer included. */
export type Reencrypted = {
  /** How many were encrypted anew, under the first key. */
  readonly count: number;
  /** How many are left under each other key, by its name. */
  readonly left: ReadonlyMap<string, number>;
  /** The endpoints of which one should have been and could not be decrypted. */
  readonly undecryptable: readonly string[];
};

/**
 * Encrypts anew, under the first key, the signing secrets that are under another one: under the key called
 * `dropped` alone when it is given. Every endpoint is written by itself, and only while its secrets are those
 * that were read, so instances that run are not disturbed and a rotation meanwhile wins. What is left is
 * counted afterwards. May be broken off, and run again.
 */
export async function reencryptSecrets(
  databaseUrl: string,
  keys: SecretKeys,
  dropped: string | undefined,
): Promise<Reencrypted> {
  const pool = createPool(databaseUrl, 1);
  const first = nameOf(keys[0]);
  const isDue = (stored: Buffer) =>
    dropped === undefined ? keyNameOf(stored) !== first : keyNameOf(stored) === dropped;
  const undecryptable = new Set<string>();

  function reencrypt(endpointId: string, stored: Buffer): Buffer {
    if (!isDue(stored)) return stored;
    try {
      return encryptSecret(keys, endpointId, decryptSecret(keys, endpointId, stored));
    } catch {
      undecryptable.add(endpointId);
      return stored;
    }
  }

  try {
    let count = 0;
    for await (const read of storedSecrets(pool)) {
      const { endpointId, secret, nextSecret } = read;
      const changed = {
        secret: reencrypt(endpointId, secret),
        nextSecret: nextSecret && reencrypt(endpointId, nextSecret),
      };
      const changes = Number(changed.secret !== secret) + Number(changed.nextSecret !== nextSecret);
      if (changes > 0 && (await replaceSecrets(pool, read, changed))) count += changes;
    }
    return { count, left: await countOthers(pool, first), undecryptable: [...undecryptable] };
  } finally {
    await pool.end();
  }
}

/** Counts the secrets that are not under a key, by the name of the key that they are under. */
async function countOthers(pool: Pool, first: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const { secret, nextSecret } of storedSecrets(pool)) {
    for (const stored of nextSecret ? [secret, nextSecret] : [secret]) {
      const name = keyNameOf(stored);
      if (name !== first) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

async function* storedSecrets(pool: Pool): AsyncGenerator<StoredSecrets> {
  let last: EndpointPosition | undefined = START;
  while (last !== undefined) {
    const page: StoredSecrets[] = await listSecrets(pool, last, PAGE);
    yield* page;
    last = page.length < PAGE ? undefined : page.at(-1);
  }
}
