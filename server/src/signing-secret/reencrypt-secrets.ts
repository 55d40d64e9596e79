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

/** How many endpoints are read at once. */
const PAGE = 100;
const START: EndpointPosition = { accountNo: 0, endpointId: "" };

/** The result for all stored signing secrets, including those that do not sign yet or any more. */
export type Reencrypted = {
  /** The number of secrets that were re-encrypted under the first key. */
  readonly count: number;
  /** The number of secrets that are still under each key except the first, by the key's name. */
  readonly left: ReadonlyMap<string, number>;
  /** The endpoints with a secret that could not be decrypted. */
  readonly undecryptable: readonly string[];
};

/**
 * Re-encrypts signing secrets under the first secret key: those under any other one, or only those under the one named
 * `dropped`. Writes each endpoint separately, and only if its secrets have not changed since they were read. Running
 * instances are therefore not disturbed, and a concurrent rotation wins. Finally it counts the secrets that are left.
 * An interrupted call can be repeated.
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

/** Counts the secrets under other keys than `first`, by the name of their key. */
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
