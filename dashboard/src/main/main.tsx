import "../styles/tokens.css";
import "../styles/base.css";
import { TransportProvider } from "@connectrpc/connect-query";
import { createRoot } from "react-dom/client";
import { applyTheme, chosenTheme } from "../common/theme.ts";
import { createTransport } from "../common/transport.ts";
import { Door } from "../session/door.tsx";
import { reloadOnNewCode, takeCode } from "../session/session-code.ts";
import { SessionGate } from "../session/session-gate.tsx";
import { LOCALE, texts } from "../texts.ts";
import { App } from "./app.tsx";

const container = document.getElementById("root");
if (container === null) throw new Error("index.html has no element with the id root");

document.documentElement.lang = LOCALE;
applyTheme(chosenTheme());
reloadOnNewCode();
createRoot(container).render(
  // An older browser opens no session, because a link's code works once. The browser would use the code up for a page
  // that fails, or that lacks colours or a visible focus.
  "groupBy" in Map &&
    CSS.supports("selector(:has(*))") &&
    CSS.supports("color", "light-dark(red, red)") ? (
    <TransportProvider transport={createTransport()}>
      <SessionGate code={takeCode()}>
        <App />
      </SessionGate>
    </TransportProvider>
  ) : (
    <Door {...texts.session.oldBrowser} />
  ),
);
