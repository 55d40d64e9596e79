/** A request as the gateway sees it, whatever read it from the wire. */
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

/** What a request without a readable head is answered for: an id to tell it by, and whom it counts for. */
export type UnreadableRequest = Pick<GatewayRequest, "requestId" | "clientAddress" | "signal">;
