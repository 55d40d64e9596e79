/** A request after it was read from the wire. */
export type GatewayRequest = {
  readonly requestId: string;
  readonly method: string;
  /** The request target, as sent. */
  readonly target: string;
  /** Every `Authorization` header. */
  readonly authorization: readonly string[];
  /** Every `Prefer` header. RFC 7240 */
  readonly prefer: readonly string[];
  readonly clientAddress: string;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
};

/** The part of a request that is known even if its head cannot be read: its id and its client. */
export type UnreadableRequest = Pick<GatewayRequest, "requestId" | "clientAddress" | "signal">;
