import type { Limits } from "@activity/proto";
import { createContext, useContext } from "react";

/** The limits of accounts. The session's answer holds them. */
export const LimitsContext = createContext<Limits | undefined>(undefined);

/** Returns the limits of accounts. Returns `undefined` without a session. */
export function useLimits(): Limits | undefined {
  return useContext(LimitsContext);
}
