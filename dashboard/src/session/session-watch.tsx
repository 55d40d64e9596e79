import { GetSessionResponseSchema, type Session, SessionService } from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";

const ASK_EVERY_MS = 60_000;

/**
 * Reads the session every minute, and when the reader returns to the tab. So the page soon shows that a session has
 * ended. If the browser has opened a session of another account, the tab goes to the start page.
 */
export function SessionWatch({ session }: { session: Session }) {
  const { data } = useQuery(
    SessionService.method.getSession,
    {},
    {
      initialData: create(GetSessionResponseSchema, { session }),
      refetchInterval: ASK_EVERY_MS,
      refetchOnWindowFocus: "always",
    },
  );
  const now = data?.session?.accountId ?? session.accountId;
  useEffect(() => {
    if (now !== session.accountId) location.assign("/");
  }, [now, session.accountId]);
  return null;
}
