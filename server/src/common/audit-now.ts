import { createContextKey } from "@connectrpc/connect";

/**
 * A function that writes the audit line of a successful call before the call ends. The audit log sets it. A service
 * runs it when its change is made, but the call may take minutes more. Later runs, and the call's end, write no second
 * line.
 */
export const auditNowKey = createContextKey<() => void>(() => {}, { description: "audit now" });
