import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Pool, RowDataPacket } from "mysql2/promise";
import { ApiError } from "./api-error.ts";
import type { Limits } from "./limits.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The account of the feed. */
    account: { readonly no: number; readonly id: string };
  }
}

type KeyRow = RowDataPacket & { account_no: number; id: string; active: number; available: number };

const BEARER = /^bearer +(act_live_[0-9a-f]{64})$/i;
const NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
const FIND_KEY = `SELECT a.account_no, a.id,
    k.revoked_at IS NULL AND k.expires_at > ${NOW} AS active,
    a.verified_at IS NOT NULL AND a.blocked_at IS NULL AND a.deleted_at IS NULL AS available
  FROM api_key k JOIN account a ON a.account_no = k.account_no WHERE k.key_hash = ?`;
const INVALID_KEY = "The API key is missing, invalid, expired or revoked.";
const UNAVAILABLE = "The account is unavailable or not verified.";

/** Checks a request in the contract's order: the client's limit, API key, account, the account's limit. */
export function addAdmission(app: FastifyInstance, pool: Pool, limits: Limits): void {
  app.addHook("onRequest", async (request, reply) => {
    await limits.countClient(request.ip);
    const key = BEARER.exec(request.headers.authorization ?? "")?.[1];
    const hash = key && createHash("sha256").update(key).digest();
    const [[row]] = hash ? await pool.execute<KeyRow[]>(FIND_KEY, [hash]) : [[]];
    if (row?.active !== 1) throw new ApiError(401, "invalid_api_key", INVALID_KEY);
    if (row.available !== 1) throw new ApiError(403, "account_unavailable", UNAVAILABLE);
    const { remainingPoints, msBeforeNext } = await limits.countAccount(row.id);
    const reset = Math.ceil(msBeforeNext / 1000);
    reply.header("ratelimit-policy", '"account";q=120;w=60');
    reply.header("ratelimit", `"account";r=${remainingPoints};t=${reset}`);
    request.account = { no: row.account_no, id: row.id };
  });
}
