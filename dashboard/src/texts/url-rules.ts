import type { ACCEPTED_URL } from "@activity/runtime/target-url";

/** What is wrong with an endpoint's URL. */
export const urlRules = {
  notAbsolute: "Write the whole URL, such as https://example.com/webhooks.",
  scheme: "It must begin with https://.",
  userInfo: "It may hold no user name and no password.",
  fragment: "It may hold no fragment: leave out # and what follows.",
  port: "The port must be 443: leave it out.",
  host: "The host must be a public name, no local or internal one.",
  address: "The address must be a public one.",
  refused: "We cannot send to this URL. Use a public https address.",
  length: "It may be at most 2048 characters long.",
} satisfies Record<keyof typeof ACCEPTED_URL | "refused", string>;
