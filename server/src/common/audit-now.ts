import { createContextKey } from "@connectrpc/connect";

/**
 * Writes the audit line of a successful call before the call ends. The audit log sets it. A service calls it when a
 * change is made but the call may take minutes more. Only the first call writes.
 */
export const auditNowKey = createContextKey<() => void>(() => {}, { description: "audit now" });
