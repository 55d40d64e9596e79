import type { ApiKeySchema, ApiKeyService } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { lockAccount, readAccount } from "../account/account-store.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import { newId } from "../ids.ts";
import { parseStoredText } from "../stored-text.ts";
import { timestampFromMicros } from "../timestamps.ts";
import {
  CREATION_INTERVAL_MICROS,
  MAX_ACTIVE_API_KEYS,
  newApiKey,
  validityMicros,
} from "./api-key.ts";
import {
  countActiveApiKeys,
  extendApiKey,
  findApiKey,
  insertApiKey,
  listApiKeys,
  markApiKeyCreation,
  markApiKeyRevoked,
  type StoredApiKey,
} from "./api-key-store.ts";

/** Creates the service that manages the API keys of accounts. §2.7, §8 */
export function createApiKeyService(pool: Pool): ServiceImpl<typeof ApiKeyService> {
  return {
    async createApiKey(request) {
      const name = parseStoredText(request.name, "name");
      const validity = validityMicros(request.validityDays);
      const { secret, hash, prefix } = newApiKey();
      const apiKey = await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, request.accountId);
        await admitCreation(tx, accountNo);
        const id = newId();
        await insertApiKey(tx, { accountNo, id, hash, prefix, name }, validity);
        return readApiKey(tx, accountNo, id);
      });
      return { apiKey: apiKeyToProto(apiKey), secret };
    },

    async renewApiKey({ accountId, apiKeyId, validityDays }) {
      const apiKey = await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, accountId);
        const extended = await extendApiKey(tx, accountNo, apiKeyId, validityMicros(validityDays));
        const stored = await readApiKey(tx, accountNo, apiKeyId);
        if (!extended) throw notActive();
        return stored;
      });
      return { apiKey: apiKeyToProto(apiKey) };
    },

    async revokeApiKey({ accountId, apiKeyId }) {
      const apiKey = await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, accountId);
        await markApiKeyRevoked(tx, accountNo, apiKeyId);
        return readApiKey(tx, accountNo, apiKeyId);
      });
      return { apiKey: apiKeyToProto(apiKey) };
    },

    async listApiKeys({ accountId }) {
      const { accountNo } = await readAccount(pool, accountId);
      return { apiKeys: (await listApiKeys(pool, accountNo)).map(apiKeyToProto) };
    },
  };
}

/** Holds the two limits for an account that is locked, so that racing calls see each other's keys. */
async function admitCreation(tx: Transaction, accountNo: number): Promise<void> {
  if ((await countActiveApiKeys(tx, accountNo)) >= MAX_ACTIVE_API_KEYS) {
    throw new DomainError(
      ErrorCode.ApiKeyLimitReached,
      `The account has ${MAX_ACTIVE_API_KEYS} active API keys, the most it may have; revoke one first.`,
    );
  }
  if (!(await markApiKeyCreation(tx, accountNo, CREATION_INTERVAL_MICROS))) {
    throw new DomainError(
      ErrorCode.ApiKeyCreatedRecently,
      "An API key of this account was created within the last minute; try again later.",
    );
  }
}

async function readApiKey(tx: Transaction, accountNo: number, id: string): Promise<StoredApiKey> {
  const apiKey = await findApiKey(tx, accountNo, id);
  if (apiKey !== undefined) return apiKey;
  throw new DomainError(
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
  const { revokedAt } = apiKey;
  return {
    id: apiKey.id,
    name: apiKey.name,
    prefix: apiKey.prefix,
    createdAt: timestampFromMicros(apiKey.createdAt),
    expiresAt: timestampFromMicros(apiKey.expiresAt),
    ...(revokedAt !== undefined && { revokedAt: timestampFromMicros(revokedAt) }),
    active: apiKey.active,
  };
}
