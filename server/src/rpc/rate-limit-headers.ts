import {
  ConnectError,
  type ContextValues,
  createContextKey,
  type Interceptor,
} from "@connectrpc/connect";
import { ACCOUNT_LIMIT } from "../admission/admission.ts";
import { type RateWindow, rateLimit, rateLimitPolicy } from "../admission/rate-window.ts";

/** The rest of the account's limit. Authentication sets it. */
export const rateWindowKey = createContextKey<RateWindow | undefined>(undefined, {
  description: "rate window",
});

const POLICY = rateLimitPolicy(ACCOUNT_LIMIT);

/** Tells a caller with an API key the rest of its account's limit, on success and on failure. */
export function createRateLimitHeaders(): Interceptor {
  return (next) => async (request) => {
    try {
      const response = await next(request);
      setRateLimit(response.header, request.contextValues);
      return response;
    } catch (error) {
      if (error instanceof ConnectError) setRateLimit(error.metadata, request.contextValues);
      throw error;
    }
  };
}

/** Sets the headers, if the call was counted for an account. */
export function setRateLimit(headers: Headers, values: ContextValues): void {
  const window = values.get(rateWindowKey);
  if (window === undefined) return;
  headers.set("ratelimit-policy", POLICY);
  headers.set("ratelimit", rateLimit(window));
}
