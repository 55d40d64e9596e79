import type { Log } from "@activity/runtime/log";
import { type CallOptions, Code, ConnectError } from "@connectrpc/connect";
import { findApiKey } from "./bearer-token.ts";
import { errorResponse } from "./error-response.ts";
import type { FeedWait, FeedWaits } from "./feed-waits.ts";
import type { GatewayRequest, UnreadableRequest } from "./gateway-request.ts";
import { createResponse, type GatewayResponse } from "./gateway-response.ts";
import type { KeptPages } from "./kept-pages.ts";
import type { GatewayLimits } from "./limits.ts";
import { preferredWait } from "./preferred-wait.ts";
import { InvalidParameterError } from "./query/invalid-parameter-error.ts";
import { rateLimitAfter, rateLimitHeaders } from "./rate-limit-headers.ts";
import type { Read, ReadPage } from "./reads.ts";
import { ALLOW, findRoute } from "./router.ts";
import type { Upstream } from "./upstream.ts";
import { responseFromError } from "./upstream-error.ts";
import { waitForRecord } from "./wait-for-record.ts";

/**
 * Answers requests. Neither function ever rejects. Each makes one upstream call. A request that waits for a record
 * makes another one each time its feed changes, and repeats it while the core is away.
 */
export type Answers = {
  answerRequest(request: GatewayRequest): Promise<GatewayResponse>;
  /** Counts a request that could not be read. Answers with `refusal` unless the client is over its limit. */
  answerUnreadable(request: UnreadableRequest, refusal: GatewayResponse): Promise<GatewayResponse>;
};

/**
 * The status, as in nginx, of a request whose client left before the answer. It is never sent. Metrics and traces show
 * no outage, because it is not 5xx.
 */
const CLIENT_GONE = 499;

/** Creates the answers. They follow the contract's order of checks, which begins with the client's address. §8 */
export function createAnswers(
  upstream: Upstream,
  pages: KeptPages,
  waits: FeedWaits,
  limits: GatewayLimits,
  log: Log,
): Answers {
  return {
    answerRequest: (request) => orFailure(request, () => answer(request)),
    answerUnreadable: (request, refusal) => orFailure(request, () => admitClient(request, refusal)),
  };

  async function orFailure(
    { requestId, signal }: UnreadableRequest,
    work: () => Promise<GatewayResponse>,
  ): Promise<GatewayResponse> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted && ConnectError.from(error).code === Code.Canceled) {
        return createResponse(CLIENT_GONE, requestId, undefined, []);
      }
      return responseFromError(error, requestId, log);
    }
  }

  function answer(request: GatewayRequest): Promise<GatewayResponse> {
    const { requestId } = request;
    const route = findRoute(request.method, request.target);
    if (route.kind !== "read") {
      return admitClient(request, errorResponse(route.kind, requestId));
    }
    const apiKey = findApiKey(request.authorization);
    if (apiKey === undefined) {
      return admitClient(request, errorResponse("invalid_api_key", requestId));
    }
    let read: Read;
    try {
      read = route.parseRead(route.query);
    } catch (error) {
      if (!(error instanceof InvalidParameterError)) throw error;
      return admitApiKey(request, apiKey, (headers) =>
        errorResponse("invalid_parameter", requestId, { message: error.message, headers }),
      );
    }
    return answerRead(request, apiKey, read);
  }

  async function answerRead(
    request: GatewayRequest,
    apiKey: string,
    read: Read,
  ): Promise<GatewayResponse> {
    const receivedMs = performance.now();
    let headers: readonly string[] = [];
    const options: CallOptions = {
      ...callOptions(request, apiKey),
      onHeader: (received) => {
        headers = rateLimitHeaders(received);
      },
    };
    const page = await read({ upstream, pages, apiKey, options });
    // OPTIONS reads the page too, because only the read checks the cursor.
    if (request.method === "OPTIONS") {
      return createResponse(204, request.requestId, undefined, [...headers, "Allow", ALLOW]);
    }
    const wait = beginWait(request, page, receivedMs);
    if (wait === undefined) return createResponse(200, request.requestId, page.body, headers);
    const sinceMs = performance.now();
    const response = await orFailure(request, async () => {
      const { body } = await waitForRecord(wait, page, () => {
        const call = callOptions(request, apiKey);
        const counted = { ...call, headers: { ...call.headers, "x-request-counted": "1" } };
        return read({ upstream, pages, apiKey, options: counted });
      });
      const status = request.signal.aborted ? CLIENT_GONE : 200;
      return createResponse(status, request.requestId, body, ["Preference-Applied", "wait"]);
    });
    const waitedMs = performance.now() - sinceMs;
    if (response.headers.includes("RateLimit")) return { ...response, waitedMs };
    // A later call shows no limit, because the first call counted the request. So this shows the first call's limit.
    const limit = rateLimitAfter(headers, waitedMs);
    return { ...response, headers: [...response.headers, ...limit], waitedMs };
  }

  /** Begins a wait if the client prefers one, the empty page may still fill, and no limit is reached. ADR 0052 */
  function beginWait(
    { method, prefer, clientAddress, signal }: GatewayRequest,
    { emptyFeed }: ReadPage,
    receivedMs: number,
  ): FeedWait | undefined {
    if (emptyFeed === undefined || prefer.length === 0 || method !== "GET") return undefined;
    const seconds = preferredWait(prefer);
    if (seconds === undefined) return undefined;
    const { accountId } = emptyFeed;
    return waits.begin({ accountId, clientAddress, receivedMs, seconds, signal });
  }

  async function admitApiKey(
    request: GatewayRequest,
    apiKey: string,
    respond: (headers: readonly string[]) => GatewayResponse,
  ): Promise<GatewayResponse> {
    let headers: readonly string[] = [];
    await upstream.admission.admitApiKey(
      {},
      {
        ...callOptions(request, apiKey),
        onHeader: (received) => {
          headers = rateLimitHeaders(received);
        },
      },
    );
    return respond(headers);
  }

  async function admitClient(
    request: UnreadableRequest,
    refusal: GatewayResponse,
  ): Promise<GatewayResponse> {
    await upstream.admission.admitClient({}, callOptions(request, undefined));
    return refusal;
  }

  function callOptions(request: UnreadableRequest, apiKey: string | undefined) {
    const headers: Record<string, string> = {
      "x-client-address": request.clientAddress,
      "x-request-id": request.requestId,
    };
    if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`;
    return { headers, timeoutMs: limits.upstreamTimeoutMs, signal: request.signal };
  }
}
