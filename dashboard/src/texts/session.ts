import { SessionScope } from "@activity/proto";
import type { Words } from "./words.ts";

/** Opening a session, its account, and signing out. */
export const session = {
  opening: "Opening the dashboard",
  ended: {
    title: "Your session has ended",
    text: "It expired, you signed out, or the account is not available. For a new link, open the dashboard from the site that brought you here.",
  },
  usedUp: {
    title: "This link no longer works",
    text: "A link works once, in one browser, for five minutes. Get a new one from the site that gave you this one.",
    instead: "I am already signed in. Open the dashboard",
  },
  anotherAccount: {
    title: "This link opens another account",
    text: "You are in the dashboard of a different account. Opening this link ends that session in this browser.",
    enter: "Open the other account",
    stay: "Stay where I am",
  },
  notKept: {
    title: "Your browser did not keep the session",
    text: "Allow cookies for this page, or open the dashboard in its own tab or in another browser, with a new link.",
  },
  oldBrowser: {
    title: "Your browser is too old",
    text: "Open your link in Chrome or Edge 123, Firefox 121, Safari 17.5, or a later version.",
  },
  signedOut: {
    title: "You are signed out",
    text: "To come back, open the dashboard from the site that brought you here.",
  },
  nothing: {
    title: "Nothing to see",
    text: "This session has no permission for this page. Ask the site that brought you here for another link.",
  },
  backToSite: "Back to your site",
  account: "Account",
  endsAt: "Session ends",
  username: "User name",
  may: "This session may",
  signOut: "Sign out",
  signOutEverywhere: "Sign out everywhere",
  everywhereHint:
    "“Sign out everywhere” ends this account's sessions in every browser and disables its unused links.",
  scopes: {
    [SessionScope.UNSPECIFIED]: "",
    [SessionScope.KEYS_READ]: "list API keys",
    [SessionScope.KEYS_WRITE]: "create, renew and revoke API keys",
    [SessionScope.ENDPOINTS_READ]: "list endpoints",
    [SessionScope.ENDPOINTS_WRITE]: "create, change and delete endpoints, and send tests",
    [SessionScope.DELIVERIES_READ]: "read deliveries",
    [SessionScope.DELIVERIES_WRITE]: "retry deliveries",
    [SessionScope.ACTIVITY_READ]: "read the activity",
  } satisfies Record<SessionScope, string> as Words,
} as const;
