import { createContextKey } from "@connectrpc/connect";

/**
 * Writes the audit line of a successful call before the call ends. The audit log sets it. A service calls it when the
 * change is made but the call may take minutes more.
 */
export const auditNowKey = createContextKey<() => void>(() => {}, { description: "audit now" });
