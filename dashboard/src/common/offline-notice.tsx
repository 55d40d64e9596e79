import { onlineManager } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { texts } from "../texts.ts";
import { Notice } from "./notice.tsx";

/** Says that the browser is offline, while it is. */
export function OfflineNotice() {
  const isOnline = useSyncExternalStore(
    (onChange) => onlineManager.subscribe(onChange),
    () => onlineManager.isOnline(),
  );
  if (isOnline) return null;
  return (
    <Notice look="warn" role="status">
      {texts.offline}
    </Notice>
  );
}
