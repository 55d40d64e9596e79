import type { ACCEPTED_URL } from "@activity/runtime/target-url";

/** The problems that an endpoint's URL can have. */
export const urlRules = {
  notAbsolute: "Write the whole URL, such as https://example.com/webhooks.",
  scheme: "It must begin with https://.",
  userInfo: "Remove the user name and password.",
  fragment: "Remove the fragment: # and all that follows.",
  port: "Remove the port: only 443 is accepted, except in a local test.",
  host: "The host must be a public name, not a local or internal one.",
  address: "The address must be public.",
  refused: "We cannot send to this URL. Use a public https address.",
  length: "It may be at most 2048 characters long, also when it is percent-encoded.",
} satisfies Record<keyof typeof ACCEPTED_URL | "refused", string>;
