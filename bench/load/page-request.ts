import { apiKeyOf, clientAddressOf } from "../data/bench-accounts.ts";

/** Returns the bytes of a request for an account's page, as a proxy would pass it on. */
export function pageRequest(accountNo: number, query = ""): Buffer {
  return Buffer.from(
    [
      `GET /api/v1/activity${query} HTTP/1.1`,
      "Host: 127.0.0.1",
      `Authorization: Bearer ${apiKeyOf(accountNo)}`,
      `X-Forwarded-For: ${clientAddressOf(accountNo)}`,
      "Accept: application/json",
      "User-Agent: bench",
      "\r\n",
    ].join("\r\n"),
    "latin1",
  );
}
