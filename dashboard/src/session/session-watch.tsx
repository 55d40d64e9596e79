import { GetSessionResponseSchema, type Session, SessionService } from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";

const ASK_EVERY_MS = 60_000;

/**
 * Asks now and then, and when the tab is looked at again, whether the session is still there. A
 * session that has ended is told at once. A tab whose browser entered another account begins anew.
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
