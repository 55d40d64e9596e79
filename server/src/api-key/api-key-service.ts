import type { ApiKeySchema, ApiKeyService } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { readAccount } from "../account/account-store.ts";
import { throwIfGone } from "../common/caller-gone.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { newId } from "../common/ids.ts";
import { parseStoredText } from "../common/stored-text.ts";
import { timestampFromMicros } from "../common/timestamps.ts";
import type { Pool } from "../database/pool.ts";
import { isWithinSpan, secondsUntil } from "../endpoint/owner-limits.ts";
import type { LockedAccount } from "../write/locked-account.ts";
import type { Decision } from "../write/write.ts";
import type { Writer } from "../write/writer.ts";
import { MAX_ACTIVE_API_KEYS, newApiKey, validityMicros } from "./api-key.ts";
import {
  activeApiKeysOf,
  apiKeysBy,
  lastApiKeyCreationOf,
  listApiKeys,
  markApiKeyRevoked,
  type StoredApiKey,
  storeApiKey,
  storeApiKeyCreation,
  updateExpiry,
} from "./api-key-store.ts";

/** Creates the service that manages the API keys of accounts. §2.7, §8 */
export function createApiKeyService(
  pool: Pool,
  { write }: Writer,
): ServiceImpl<typeof ApiKeyService> {
  async function changeApiKey(
    { accountId, apiKeyId }: { accountId: string; apiKeyId: string },
    decide: (stored: StoredApiKey, account: LockedAccount) => Decision<StoredApiKey>,
  ) {
    const apiKey = await write({
      accountId,
      load: (accountNo) => ({ apiKey: apiKeysBy([accountNo, apiKeyId]) }),
      decide({ apiKey: [stored] }, account) {
        if (stored === undefined) throw apiKeyNotFound();
        return decide(stored, account);
      },
    });
    return { apiKey: apiKeyToProto(apiKey) };
  }

  return {
    async createApiKey(request, { signal }) {
      const name = parseStoredText(request.name, "name");
      const validity = validityMicros(request.validityDays);
      const { secret, hash, prefix } = newApiKey();
      const id = newId();
      const apiKey = await write({
        accountId: request.accountId,
        load: (accountNo) => ({
          active: activeApiKeysOf([accountNo]),
          lastCreation: lastApiKeyCreationOf([accountNo]),
        }),
        decide({ active: [active = 0], lastCreation: [last] }, { accountNo, nowMicros }) {
          // Creates no key for a caller that has left, because it would never learn the key.
          throwIfGone(signal);
          if (active >= MAX_ACTIVE_API_KEYS) throw limitReached();
          if (last !== undefined && isWithinSpan(last, nowMicros)) {
            throw createdRecently(secondsUntil(last, nowMicros));
          }
          const times = { createdAt: nowMicros, expiresAt: nowMicros + validity };
          const created = {
            id,
            name,
            prefix,
            ...times,
            active: true,
            revokedAt: undefined,
            lastUsedAt: undefined,
          };
          const noted = storeApiKeyCreation(accountNo, nowMicros);
          return { answer: created, changes: [storeApiKey(accountNo, hash, created), noted] };
        },
      });
      return { apiKey: apiKeyToProto(apiKey), secret };
    },

    renewApiKey: (request) =>
      changeApiKey(request, (stored, { accountNo, nowMicros }) => {
        if (!stored.active) throw notActive();
        const expiresAt = nowMicros + validityMicros(request.validityDays);
        return {
          answer: { ...stored, expiresAt },
          changes: [updateExpiry(accountNo, stored.id, expiresAt)],
        };
      }),

    revokeApiKey: (request) =>
      changeApiKey(request, (stored, { accountNo, nowMicros }) => {
        // A repeated revocation keeps the time of the first.
        if (stored.revokedAt !== undefined) return { answer: stored };
        return {
          answer: { ...stored, revokedAt: nowMicros, active: false },
          changes: [markApiKeyRevoked(accountNo, stored.id, nowMicros)],
        };
      }),

    async listApiKeys({ accountId }) {
      const { accountNo } = await readAccount(pool, accountId);
      return { apiKeys: (await listApiKeys(pool, accountNo)).map(apiKeyToProto) };
    },
  };
}

function limitReached(): DomainError {
  return new DomainError(
    ErrorCode.ApiKeyLimitReached,
    `The account has ${MAX_ACTIVE_API_KEYS} active API keys, which is the limit. Revoke one first.`,
  );
}

function createdRecently(seconds: number): DomainError {
  return new DomainError(
    ErrorCode.ApiKeyCreatedRecently,
    `An API key of this account was created within the last minute; create the next one in ${seconds} s.`,
  );
}

function apiKeyNotFound(): DomainError {
  return new DomainError(
    ErrorCode.ApiKeyNotFound,
    "The account has no API key with this api_key_id.",
  );
}

function notActive(): DomainError {
  return new DomainError(
    ErrorCode.ApiKeyNotActive,
    "The API key is expired or revoked and cannot be renewed; create a new one.",
  );
}

function apiKeyToProto(apiKey: StoredApiKey): MessageInitShape<typeof ApiKeySchema> {
  const { revokedAt, lastUsedAt } = apiKey;
  return {
    id: apiKey.id,
    name: apiKey.name,
    prefix: apiKey.prefix,
    createdAt: timestampFromMicros(apiKey.createdAt),
    expiresAt: timestampFromMicros(apiKey.expiresAt),
    ...(revokedAt !== undefined && { revokedAt: timestampFromMicros(revokedAt) }),
    active: apiKey.active,
    ...(lastUsedAt !== undefined && { lastUsedAt: timestampFromMicros(lastUsedAt) }),
  };
}
