import "../styles/tokens.css";
import "../styles/base.css";
import { TransportProvider } from "@connectrpc/connect-query";
import { createRoot } from "react-dom/client";
import { applyTheme, chosenTheme } from "../common/theme.ts";
import { createTransport } from "../common/transport.ts";
import { reloadOnNewCode, takeCode } from "../session/session-code.ts";
import { SessionGate } from "../session/session-gate.tsx";
import { LOCALE } from "../texts.ts";
import { App } from "./app.tsx";

const container = document.getElementById("root");
if (container === null) throw new Error("index.html has no element with the id root");

document.documentElement.lang = LOCALE;
applyTheme(chosenTheme());
reloadOnNewCode();
createRoot(container).render(
  <TransportProvider transport={createTransport()}>
    <SessionGate code={takeCode()}>
      <App />
    </SessionGate>
  </TransportProvider>,
);
