/** A response before it is written to the wire. */
export type GatewayResponse = {
  readonly status: number;
  /** Name, value, name, value; without Content-Length. */
  readonly headers: readonly string[];
  /** JSON, as text or in UTF-8; `undefined` for a status without a body. */
  readonly body: string | Buffer | undefined;
  /** How long the core refuses this client, in milliseconds. Never sent. */
  readonly clientRefusedForMs?: number | undefined;
  /** How long the request waited for a record, in milliseconds. Never sent. */
  readonly waitedMs?: number;
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
