import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { errorCode, isPassing } from "./error-code.ts";

const MAX_RETRIES = 4;
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
        retry: (failures, error) => isPassing(error) && failures < MAX_RETRIES,
      },
      // A click that cannot be sent says so instead of waiting unseen.
      mutations: { networkMode: "always", retry: false },
    },
  });
}
