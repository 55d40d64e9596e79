import {
  DeliveryState,
  type Notice,
  NoticeKind,
  SessionScope,
  SessionService,
} from "@activity/proto";
import { useMutation } from "@connectrpc/connect-query";
import { Link } from "wouter";
import { Button } from "../common/button.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { useMay, useSession } from "../session/session-context.ts";
import { texts } from "../texts.ts";

/** The one action for a notice: a link to a page, or a button that ends all sessions. */
export function NoticeAction({ notice: { kind, level, subjectId } }: { notice: Notice }) {
  const mayWriteKeys = useMay(SessionScope.KEYS_WRITE);
  switch (kind) {
    case NoticeKind.ENDPOINT_FAILING:
    case NoticeKind.SECRET_OVERLAP_ENDS:
      return <Link href={`/endpoints/${subjectId}`}>{texts.notices.showEndpoint}</Link>;
    case NoticeKind.RUN_FAILED:
      return (
        <Link href={`/deliveries?endpoint=${subjectId}&state=${DeliveryState.FAILED}`}>
          {texts.notices.showFailed}
        </Link>
      );
    case NoticeKind.API_KEY_ENDS:
      if (!mayWriteKeys) return <Link href="/keys">{texts.notices.showKeys}</Link>;
      return (
        <Link href="/keys">{level === 0 ? texts.notices.createKey : texts.notices.renewKey}</Link>
      );
    case NoticeKind.SESSION_LINK_REUSED:
      return <SignOutEverywhere />;
    default:
      return null;
  }
}

function SignOutEverywhere() {
  const { leave } = useSession();
  const everywhere = useMutation(SessionService.method.signOutEverywhere, { onSuccess: leave });
  return (
    <>
      <Button look="quiet" isPending={everywhere.isPending} onClick={() => everywhere.mutate({})}>
        {texts.session.signOutEverywhere}
      </Button>
      <ErrorNotice error={everywhere.error} />
    </>
  );
}
