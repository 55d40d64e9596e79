import { onlineManager } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { texts } from "../texts.ts";
import { Notice } from "./notice.tsx";

/** Shows a message while the browser is offline. */
export function OfflineNotice() {
  const isOnline = useSyncExternalStore(
    (onChange) => onlineManager.subscribe(onChange),
    () => onlineManager.isOnline(),
  );
  return <div role="status">{!isOnline && <Notice look="warn">{texts.offline}</Notice>}</div>;
}
