import { randomFillSync } from "node:crypto";

const ID_BYTES = 16;
const pool = Buffer.alloc(ID_BYTES * 256);
let offset = pool.length;

/** Returns a new random request id: `req_` and 22 URL-safe characters. A client's own id is never used. */
export function newRequestId(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const start = offset;
  offset += ID_BYTES;
  return `req_${pool.toString("base64url", start, offset)}`;
}
