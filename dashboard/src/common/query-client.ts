import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { errorCode, isPassing } from "./error-code.ts";

const RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 5_000;
const STALE_AFTER_MS = 2_000;

/** Creates what keeps answers; calls `onSessionEnded` once any call says that the session has ended. */
export function createQueryClient(onSessionEnded: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (errorCode(error) === "session_ended") onSessionEnded();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: STALE_AFTER_MS,
        // A page tells the first failure and recovers by itself: `Loaded` shows what a query waits for.
        retry: (_, error) => isPassing(error),
        retryDelay: (failures) => Math.min(RETRY_AFTER_MS * 2 ** failures, MAX_RETRY_AFTER_MS),
      },
      // A click that cannot be sent says so instead of waiting unseen.
      mutations: { networkMode: "always", retry: false },
    },
  });
}
