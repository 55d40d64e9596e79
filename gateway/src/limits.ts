import { REFUSAL_DELAY_MS } from "@activity/runtime/refused-clients";

/** The gateway's timeouts and limits. */
export type GatewayLimits = {
  /** How long the core may take to answer one call. */
  readonly upstreamTimeoutMs: number;
  /** The delay of each further refusal of a refused client. */
  readonly refusalDelayMs: number;
  /** How long a request's headers may take to arrive. */
  readonly headersTimeoutMs: number;
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs: number;
  /** How long a connection may stall in a request or response. A client that does not read keeps its page in memory. */
  readonly stalledTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveTimeoutMs: number;
  /** How often the timeouts of unfinished requests are checked. */
  readonly timeoutCheckMs: number;
  /** The most bytes of a request's line and headers. */
  readonly headerBytes: number;
  /** The most bytes of a request body. A longer body cuts the connection. */
  readonly bodyBytes: number;
  /** The most unanswered requests of a connection. One more cuts the connection. */
  readonly unansweredRequests: number;
  /** The most requests of an account, and of a client, that wait for a record. More are answered at once. */
  readonly waitingByAccount: number;
  readonly waitingByClient: number;
  /** The memory of kept pages. */
  readonly keptPageBytes: number;
  /** How long a closing gateway waits for answers in flight. */
  readonly closeTimeoutMs: number;
};

/** The default limits. */
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
  waitingByAccount: 4,
  waitingByClient: 20,
  keptPageBytes: 25_165_824,
  closeTimeoutMs: 10_000,
};
