import { type Session, SessionService } from "@activity/proto";
import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { Button } from "../common/button.tsx";
import { errorCode, isPassing } from "../common/error-code.ts";
import { ErrorNotice } from "../common/error-notice.tsx";
import { LimitsContext } from "../common/limits-context.ts";
import { createQueryClient } from "../common/query-client.ts";
import { onceFree } from "../common/use-hold.ts";
import { texts } from "../texts.ts";
import { BackToSite } from "./back-to-site.tsx";
import { Door } from "./door.tsx";
import { onOpenedSession, tellOpenedSession } from "./opened-sessions.ts";
import { SessionContext } from "./session-context.ts";
import { SessionWatch } from "./session-watch.tsx";

const TRY_AGAIN_MS = 5_000;

type State =
  | {
      readonly kind:
        | "opening"
        | "ended"
        | "used-up"
        | "signed-out"
        | "another-account"
        | "not-kept";
    }
  | { readonly kind: "open"; readonly session: Session }
  | { readonly kind: "failed"; readonly error: unknown };

/** Opens a session with the code of a link, or with the browser's cookie. If it cannot, it shows the reason. */
export function SessionGate({ code, children }: { code: string | undefined; children: ReactNode }) {
  const transport = useTransport();
  const [state, setState] = useState<State>({ kind: "opening" });
  /**
   * The return URL of the latest session. It stays known after the session ends, because the reader then needs it most.
   */
  const [returnUrl, setReturnUrl] = useState("");
  const [queryClient] = useState(() =>
    createQueryClient(() => {
      // The failed call may have had the cookie of a session that another tab has just replaced. So this reads the
      // session of the present cookie.
      createClient(SessionService, transport)
        .getSession({})
        .catch((error: unknown) => {
          if (errorCode(error) !== "session_ended") return;
          onceFree(() => setState((now) => (now.kind === "open" ? { kind: "ended" } : now)));
        });
    }),
  );
  const open = useCallback(
    (replaceSession: boolean) => {
      const sessions = createClient(SessionService, transport);
      if (code === undefined) {
        sessions.getSession({}).then(
          ({ session }) => setState(session ? { kind: "open", session } : { kind: "ended" }),
          // An earlier call may have succeeded meanwhile. Its session stays open.
          (error: unknown) => setState((now) => (now.kind === "open" ? now : stateAfter(error))),
        );
        return;
      }
      sessions.exchangeCode({ code, replaceSession }).then(
        async ({ session }) => {
          if (session === undefined) return setState({ kind: "ended" });
          // Some browsers drop the cookie, for example in a frame, and another tab may have replaced it. So this reads
          // the session of the cookie that the browser has now.
          const kept = await sessions.getSession({}).then(
            (answer) => answer.session,
            (error: unknown) => (errorCode(error) === "session_ended" ? undefined : session),
          );
          if (kept === undefined) return setState({ kind: "not-kept" });
          tellOpenedSession(kept.accountId);
          setState({ kind: "open", session: kept });
        },
        (error: unknown) => setState(stateAfter(error)),
      );
    },
    [transport, code],
  );
  const openAtClick = (replaceSession: boolean) => {
    setState({ kind: "opening" });
    open(replaceSession);
  };
  useEffect(() => open(false), [open]);
  useEffect(() => {
    // A code is not sent again: if only the answer was lost, the core would take the code for another browser's and
    // warn the owner.
    if (code !== undefined || state.kind !== "failed" || !isPassing(state.error)) return;
    // The failure stays shown, so that screen readers do not read it again after each try.
    const timer = setTimeout(() => open(false), TRY_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [state, open, code]);
  // A link opened in another tab lets this tab in too, so this tab loads again. Its last calls may have had the old
  // cookie.
  const isEnded = state.kind === "ended";
  useEffect(() => (isEnded ? onOpenedSession(() => location.reload()) : undefined), [isEnded]);
  const session = state.kind === "open" ? state.session : undefined;
  useEffect(() => setReturnUrl((before) => session?.returnUrl ?? before), [session]);
  const change = useCallback(
    (changed: Session) => setState({ kind: "open", session: changed }),
    [],
  );
  const openSession = useMemo(
    // If the page shows a secret once, it stays until the reader has saved the secret.
    () => session && { session, leave: () => onceFree(() => setState({ kind: "signed-out" })) },
    [session],
  );

  if (openSession !== undefined) {
    return (
      <QueryClientProvider client={queryClient}>
        <SessionContext value={openSession}>
          <SessionWatch session={openSession.session} onChanged={change} />
          <LimitsContext value={openSession.session.limits}>{children}</LimitsContext>
        </SessionContext>
      </QueryClientProvider>
    );
  }
  switch (state.kind) {
    case "failed":
      return (
        <Door title={texts.session.opening}>
          <ErrorNotice error={state.error} onRetry={() => openAtClick(false)} />
        </Door>
      );
    case "used-up":
      return (
        <Door title={texts.session.usedUp.title} text={texts.session.usedUp.text}>
          <a href="/">{texts.session.usedUp.instead}</a>
        </Door>
      );
    case "another-account":
      return (
        <Door title={texts.session.anotherAccount.title} text={texts.session.anotherAccount.text}>
          <Button onClick={() => openAtClick(true)}>{texts.session.anotherAccount.enter}</Button>
          <a href="/">{texts.session.anotherAccount.stay}</a>
        </Door>
      );
    case "not-kept":
      return <Door {...texts.session.notKept} />;
    case "signed-out":
    case "ended":
      return (
        <Door {...(state.kind === "ended" ? texts.session.ended : texts.session.signedOut)}>
          <BackToSite url={returnUrl} />
        </Door>
      );
    default:
      return <Door title={texts.session.opening} isBusy />;
  }
}

function stateAfter(error: unknown): State {
  switch (errorCode(error)) {
    case "session_ended":
      return { kind: "ended" };
    case "session_of_another_account":
      return { kind: "another-account" };
    case "session_link_used_up":
    // A malformed code gets the same page as a used one.
    case "invalid_parameter":
      return { kind: "used-up" };
    default:
      return { kind: "failed", error };
  }
}
