import { ConnectError, createContextKey, type Interceptor } from "@connectrpc/connect";
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
      setHeaders(response.header, request.contextValues.get(rateWindowKey));
      return response;
    } catch (error) {
      const window = request.contextValues.get(rateWindowKey);
      if (error instanceof ConnectError) setHeaders(error.metadata, window);
      throw error;
    }
  };
}

function setHeaders(headers: Headers, window: RateWindow | undefined): void {
  if (window === undefined) return;
  headers.set("ratelimit-policy", POLICY);
  headers.set("ratelimit", rateLimit(window));
}
