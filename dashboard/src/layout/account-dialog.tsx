import { SessionService } from "@activity/proto";
import { useMutation } from "@connectrpc/connect-query";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { Facts } from "../common/facts.tsx";
import { Time } from "../common/time.tsx";
import { UntrustedText } from "../common/untrusted-text.tsx";
import { useSession } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { ThemeField } from "./theme-field.tsx";

/** Shows the account and the end of the session. Its buttons sign the reader out. */
export function AccountDialog() {
  const { session, leave } = useSession();
  const signOut = useMutation(SessionService.method.signOut, { onSuccess: leave });
  const everywhere = useMutation(SessionService.method.signOutEverywhere, { onSuccess: leave });
  return (
    <ActionDialog
      title={texts.session.account}
      trigger={(open) => (
        <Button onClick={open} aria-label={`${texts.session.account}: ${session.displayName}`}>
          <bdi>{session.displayName}</bdi>
        </Button>
      )}
    >
      {(close) => (
        <>
          <UntrustedText text={session.displayName} />
          <Facts
            facts={[
              [texts.session.username, session.username],
              [texts.session.endsAt, <Time key="end" at={session.expiresAt} />],
              [
                texts.session.may,
                session.scopes.map((scope) => texts.session.scopes[scope] ?? "").join("; "),
              ],
            ]}
          />
          <ThemeField />
          <p>{texts.session.everywhereHint}</p>
          <ErrorNotice error={signOut.error ?? everywhere.error} />
          <DialogButtons>
            <Button onClick={close}>{texts.close}</Button>
            <Button
              look="danger"
              isPending={everywhere.isPending}
              onClick={() => everywhere.mutate({}, { onSuccess: close })}
            >
              {texts.session.signOutEverywhere}
            </Button>
            <Button
              look="primary"
              isPending={signOut.isPending}
              // The page behind the dialog may hold the reader for a secret, so the dialog closes.
              onClick={() => signOut.mutate({}, { onSuccess: close })}
            >
              {texts.session.signOut}
            </Button>
          </DialogButtons>
        </>
      )}
    </ActionDialog>
  );
}
