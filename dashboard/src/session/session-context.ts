import { type Session, SessionScope } from "@activity/proto";
import { createContext, useContext } from "react";

/** The session, and the function that leaves it. */
export type OpenSession = {
  readonly session: Session;
  /** Shows that the reader signed out. */
  readonly leave: () => void;
};

export const SessionContext = createContext<OpenSession | undefined>(undefined);

/** Returns the open session. Throws outside SessionGate. */
export function useSession(): OpenSession {
  const open = useContext(SessionContext);
  if (open === undefined) throw new Error("there is no session outside SessionGate");
  return open;
}

/** Each scope to read, with the scope to write that includes it. */
const WRITES: Partial<Record<SessionScope, SessionScope>> = {
  [SessionScope.KEYS_READ]: SessionScope.KEYS_WRITE,
  [SessionScope.ENDPOINTS_READ]: SessionScope.ENDPOINTS_WRITE,
  [SessionScope.DELIVERIES_READ]: SessionScope.DELIVERIES_WRITE,
};

/** Returns whether the session has a scope. The server checks every call again. */
export function useMay(scope: SessionScope): boolean {
  const { scopes } = useSession().session;
  const writes = WRITES[scope];
  return scopes.includes(scope) || (writes !== undefined && scopes.includes(writes));
}
