import { createContextKey } from "@connectrpc/connect";

/**
 * A function that writes the audit line of a successful call before the call ends. The audit log sets it. A service
 * uses it when its change is made, but the call may take minutes more. Neither a second use nor the call's end writes a
 * second line.
 */
export const auditNowKey = createContextKey<() => void>(() => {}, { description: "audit now" });
