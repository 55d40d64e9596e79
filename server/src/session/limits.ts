import type { LimitsSchema } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { MAX_ACTIVE_API_KEYS } from "../api-key/api-key.ts";
import { MAX_ENDPOINTS, MAX_TESTS, SPAN_MICROS } from "../endpoint/owner-limits.ts";

const MINUTE_MICROS = 60_000_000;

/** The limits of an account, for pages to show. The rules use the same constants. §6.4, §8 */
export const LIMITS: MessageInitShape<typeof LimitsSchema> = {
  activeApiKeys: MAX_ACTIVE_API_KEYS,
  endpoints: MAX_ENDPOINTS,
  // Another process has the schedule of attempts. test/architecture/schedule.test.ts checks that the numbers are equal.
  attempts: 8,
  apiKeysPerMinute: MINUTE_MICROS / SPAN_MICROS,
  testsPerMinute: MAX_TESTS * (MINUTE_MICROS / SPAN_MICROS),
  bulkRetriesPerMinute: MINUTE_MICROS / SPAN_MICROS,
};
