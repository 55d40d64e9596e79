import { activity } from "./texts/activity.ts";
import { deliveries } from "./texts/deliveries.ts";
import { endpoints } from "./texts/endpoints.ts";
import { errors } from "./texts/errors.ts";
import { keys } from "./texts/keys.ts";
import { session } from "./texts/session.ts";
import { urlRules } from "./texts/url-rules.ts";

export { LOCALE } from "./texts/words.ts";

/** Every text of the dashboard, each page's in a file of its own: who translates it translates the folder `texts`. */
export const texts = {
  product: "Activity",
  skip: "Skip to content",
  navigation: "Dashboard",
  offline: "You are offline. What you see may be old; it is read again once you are back.",
  retry: "Try again",
  stale: "Could not be read again. What you see is from before.",
  loading: "Loading",
  cancel: "Cancel",
  close: "Close",
  done: "Done",
  save: "Save",
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Select it and copy it yourself: the browser does not let us.",
  showAll: "Show all",
  showLess: "Show less",
  more: "Show older",
  all: "All",
  never: "Never",
  none: "–",
  test: "Test",
  clearFilters: "Clear filters",
  actions: "Actions",
  shownOnce: "It is shown this once. Store it now: we keep none that could be shown again.",
  notFound: { title: "Page not found", text: "There is nothing at this address." },
  pages: {
    keys: "API keys",
    endpoints: "Endpoints",
    deliveries: "Deliveries",
    activity: "Activity",
  },
  utc: (text: string) => `${text} UTC`,
  connectionError: "No connection to the service. Check your network and try again.",
  unknownError: "It did not work. Try again; if it stays, tell support the time.",

  session,
  keys,
  endpoints,
  urlRules,
  deliveries,
  activity,
  errors,
} as const;
