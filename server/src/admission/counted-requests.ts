import type { Admission, AdmissionResult } from "./admission.ts";
import type { FindApiKey } from "./api-key-lookup-store.ts";
import { apiKeyFromRow } from "./api-key-row.ts";

/**
 * Checks the keys of requests that were counted before they waited for a record. Meanwhile a key may have expired, or
 * its account may have been blocked. Passes all other requests to `admission`. ADR 0052
 */
export function checkCountedRequests(admission: Admission, findApiKey: FindApiKey): Admission {
  return {
    ready: admission.ready,
    async admit(request): Promise<AdmissionResult> {
      if (!request.wasCounted) return admission.admit(request);
      // Without a key, skip the look-up: for a batch without any key its SQL would be malformed.
      const row = request.keyHash && (await findApiKey(request));
      if (row === undefined || row.active !== 1) return { kind: "unknown_key" };
      if (row.available !== 1) return { kind: "account_unavailable" };
      return { kind: "still_admitted", apiKey: apiKeyFromRow(row) };
    },
    close: () => admission.close(),
  };
}
