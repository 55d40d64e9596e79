import { activity } from "./texts/activity.ts";
import { deliveries } from "./texts/deliveries.ts";
import { endpoints } from "./texts/endpoints.ts";
import { errors, limits } from "./texts/errors.ts";
import { keys } from "./texts/keys.ts";
import { notices } from "./texts/notices.ts";
import { overview } from "./texts/overview.ts";
import { session } from "./texts/session.ts";
import { urlRules } from "./texts/url-rules.ts";
import { LOCALE, many } from "./texts/words.ts";

export { LOCALE } from "./texts/words.ts";

/**
 * All texts of the dashboard, with one file for each page. To translate it, translate this file and the folder `texts`.
 */
export const texts = {
  product: "Activity",
  skip: "Skip to content",
  navigation: "Dashboard",
  offline: "You are offline. This data may be old. It refreshes when you are back online.",
  retry: "Try again",
  stale: "Can't refresh. Showing data from",
  loading: "Loading",
  tooLong: (length: number, max: number) =>
    `Too long: ${length.toLocaleString(LOCALE)} of at most ${many(max, "character", "characters")}.`,
  cancel: "Cancel",
  close: "Close",
  stepDone: "Done:",
  save: "Save",
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Your browser refused. Select the text and copy it.",
  showAll: "Show all",
  showLess: "Show less",
  more: "Show older",
  follow: "Follow live",
  all: "All",
  never: "Never",
  justNow: "just now",
  none: "–",
  test: "Test",
  clearFilters: "Clear filters",
  time: "Time",
  units: { ms: "ms", s: "s", min: "min", h: "h" },
  theme: "Colours",
  themes: { system: "System", light: "Light", dark: "Dark" },
  spans: {
    "": "Any time",
    hour: "Last hour",
    day: "24 hours",
    week: "7 days",
    custom: "Custom",
  },
  actions: "Actions",
  shownOnce: "Copy it now. You won't see it again.",
  saveFirst: "Save it before you leave, then confirm below. You won't see it again.",
  saved: "I saved it",
  notFound: { title: "Page not found", text: "There is nothing at this address." },
  pages: {
    overview: "Overview",
    keys: "API keys",
    endpoints: "Endpoints",
    deliveries: "Deliveries",
    activity: "Activity",
  },
  utc: (text: string) => `${text} UTC`,
  connectionError: "Can't reach the service. Check your network.",
  answerLost:
    "The service did not confirm the change. It may have been made. Check before you repeat it.",
  unknownError: "Something went wrong. Try again. If it fails again, tell support the time.",

  session,
  notices,
  overview,
  keys,
  endpoints,
  urlRules,
  deliveries,
  activity,
  errors,
  limits,
} as const;
