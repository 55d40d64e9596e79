import {
  GetSessionResponseSchema,
  type Session,
  SessionSchema,
  SessionService,
} from "@activity/proto";
import { create, equals } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { onceFree } from "../common/use-hold.ts";
import { onOpenedSession } from "./opened-sessions.ts";

const ASK_EVERY_MS = 60_000;

/**
 * Opens the start page. If the reader stays for a secret that is shown once, opens it when they have saved the secret.
 */
function openStart(): void {
  location.assign("/");
  onceFree(() => location.assign("/"));
}

/**
 * Reads the session every minute, when the reader returns to the tab, and when another tab opens a session. So the page
 * soon shows that a session has ended or changed. For a session of another account the tab goes to the start page.
 */
export function SessionWatch(props: {
  session: Session;
  /** Gets a new session of the same account. */
  onChanged: (session: Session) => void;
}) {
  const { session, onChanged } = props;
  const queryClient = useQueryClient();
  const { data } = useQuery(
    SessionService.method.getSession,
    {},
    {
      initialData: create(GetSessionResponseSchema, { session }),
      refetchInterval: ASK_EVERY_MS,
      refetchOnWindowFocus: "always",
    },
  );
  const now = data?.session ?? session;
  useEffect(() => {
    if (now.accountId !== session.accountId) openStart();
    // A session with fewer scopes would remove a secret that is shown once, so the change waits until the secret is
    // saved.
    else if (!equals(SessionSchema, now, session)) onceFree(() => onChanged(now));
  }, [now, session, onChanged]);
  useEffect(
    () =>
      onOpenedSession((accountId) => {
        // Leaves the page at once, because the browser already has the cookie of the other account.
        if (accountId !== session.accountId) openStart();
        // Reads all data again, because queries may have failed with the previous session.
        else void queryClient.invalidateQueries();
      }),
    [session.accountId, queryClient],
  );
  return null;
}
