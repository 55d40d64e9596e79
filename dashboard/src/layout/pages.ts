import { SessionScope } from "@activity/proto";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";

/** Returns the pages that the session may see, in the order of the navigation. */
export function usePages(): readonly { readonly path: string; readonly title: string }[] {
  const mayDeliver = [useMay(SessionScope.ENDPOINTS_READ), useMay(SessionScope.DELIVERIES_READ)];
  const pages = [
    // Without endpoints and deliveries, the overview would only repeat another page.
    { path: "/", title: texts.pages.overview, may: mayDeliver.every(Boolean) },
    { path: "/keys", title: texts.pages.keys, may: useMay(SessionScope.KEYS_READ) },
    { path: "/endpoints", title: texts.pages.endpoints, may: useMay(SessionScope.ENDPOINTS_READ) },
    {
      path: "/deliveries",
      title: texts.pages.deliveries,
      may: useMay(SessionScope.DELIVERIES_READ),
    },
    { path: "/activity", title: texts.pages.activity, may: useMay(SessionScope.ACTIVITY_READ) },
  ];
  return pages.filter(({ may }) => may);
}
