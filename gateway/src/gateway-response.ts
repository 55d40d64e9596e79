/** A response before it is written to the wire. */
export type GatewayResponse = {
  readonly status: number;
  /** Names and values in turn, without Content-Length. */
  readonly headers: readonly string[];
  /** JSON, as text or in UTF-8, or `undefined` where the status has none. */
  readonly body: string | Buffer | undefined;
  /** How many milliseconds the core refuses all requests of this client. No client is sent this. */
  readonly clientRefusedForMs?: number | undefined;
  /** For how many milliseconds the request was held, waiting for a record; never sent. */
  readonly heldMs?: number;
};

/** Creates a response with the headers that every response has. §4, §7 */
export function createResponse(
  status: number,
  requestId: string,
  body: GatewayResponse["body"],
  more: readonly string[],
): GatewayResponse {
  const headers = [
    "X-Request-Id",
    requestId,
    "Cache-Control",
    "private, no-store",
    "X-Content-Type-Options",
    "nosniff",
    ...more,
  ];
  if (body !== undefined) headers.push("Content-Type", "application/json; charset=utf-8");
  return { status, headers, body };
}
