import { SessionScope } from "@activity/proto";
import type { Words } from "./words.ts";

/** Getting in, being in, and getting out. */
export const session = {
  opening: "Opening the dashboard",
  ended: {
    title: "Your session has ended",
    text: "It ran out, was signed out, or the account is not available. Go back to the site that brought you here and open the dashboard again: it makes a new link.",
  },
  usedUp: {
    title: "This link no longer works",
    text: "A link lets one browser in, once, within five minutes. Go back to the site that gave it to you and ask for a new one.",
    instead: "I am signed in already: open the dashboard",
  },
  anotherAccount: {
    title: "This link opens another account",
    text: "You are in the dashboard of a different account. Opening this link ends that session in this browser.",
    enter: "Open the other account",
    stay: "Stay where I am",
  },
  signedOut: {
    title: "You are signed out",
    text: "To come back, open the dashboard from the site that brought you here.",
  },
  nothing: {
    title: "Nothing to see",
    text: "This session may open no page of the dashboard. Ask the site that brought you here for a link that may.",
  },
  backToSite: "Back to your site",
  account: "Account",
  endsAt: "Session ends",
  username: "User name",
  may: "This session may",
  signOut: "Sign out",
  signOutEverywhere: "Sign out everywhere",
  everywhereHint:
    "Ends the sessions of this account in every browser, and makes its unused links unusable.",
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
