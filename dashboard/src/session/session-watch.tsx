import { GetSessionResponseSchema, type Session, SessionService } from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";

const ASK_EVERY_MS = 60_000;

/**
 * Asks now and then, and whenever the tab is looked at again, whether the session still is: one that has ended is
 * said at once, and a tab whose browser was let into another account meanwhile begins anew.
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
