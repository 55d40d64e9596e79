import { REFUSAL_DELAY_MS } from "@activity/runtime/refused-clients";

/** How long the gateway waits, and how much it takes in. */
export type GatewayLimits = {
  /** Until the core must have answered one call. */
  readonly upstreamTimeoutMs: number;
  /** How long a client that was refused and asks on waits for each further refusal. */
  readonly refusalDelayMs: number;
  /** Until a request's headers must have arrived. */
  readonly headersTimeoutMs: number;
  /** Until a whole request must have arrived. */
  readonly requestTimeoutMs: number;
  /** How long a connection may stand still within a request or a response. A client that reads nothing keeps its page in memory. */
  readonly stalledTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveTimeoutMs: number;
  /** How often the timeouts of unfinished requests are looked at. */
  readonly timeoutCheckMs: number;
  /** The most bytes of a request's line and headers. */
  readonly headerBytes: number;
  /** The most bytes of a request body that are drained before the connection is cut. */
  readonly bodyBytes: number;
  /** The most requests that a connection may have unanswered; one more, and it is cut. */
  readonly unansweredRequests: number;
  /** The most requests of one account, and of one client address, that wait for a record. More are answered at once. */
  readonly heldByAccount: number;
  readonly heldByClient: number;
  /** How much memory the pages take that are kept. */
  readonly keptPageBytes: number;
  /** How long a closing gateway waits for answers in flight. */
  readonly closeTimeoutMs: number;
};

/** The limits unless others are given. */
export const DEFAULT_LIMITS: GatewayLimits = {
  upstreamTimeoutMs: 5_000,
  refusalDelayMs: REFUSAL_DELAY_MS,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  stalledTimeoutMs: 20_000,
  keepAliveTimeoutMs: 65_000,
  timeoutCheckMs: 2_000,
  headerBytes: 16_384,
  bodyBytes: 1_048_576,
  unansweredRequests: 16,
  heldByAccount: 4,
  heldByClient: 20,
  keptPageBytes: 25_165_824,
  closeTimeoutMs: 10_000,
};
