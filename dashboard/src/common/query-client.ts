import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { errorCode, isPassing } from "./error-code.ts";

const RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 5_000;
const STALE_AFTER_MS = 2_000;

/** Creates the cache of answers. Calls `onSessionEnded` when any call fails because the session has ended. */
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
        // Retries never end, so a page recovers without a click. `Loaded` shows the failure meanwhile.
        retry: (_, error) => isPassing(error),
        retryDelay: (failures) => Math.min(RETRY_AFTER_MS * 2 ** failures, MAX_RETRY_AFTER_MS),
      },
      // A change that cannot be sent must fail visibly. By default it would wait until the browser is online.
      mutations: { networkMode: "always", retry: false },
    },
  });
}
