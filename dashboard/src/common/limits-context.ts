import type { Limits } from "@activity/proto";
import { createContext, useContext } from "react";

/** The limits of accounts that the session came with. */
export const LimitsContext = createContext<Limits | undefined>(undefined);

/** Returns the limits of accounts; `undefined` without a session, and from a core of the version before. */
export function useLimits(): Limits | undefined {
  return useContext(LimitsContext);
}
