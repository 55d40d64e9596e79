/** The banner with notices to the owner. */
export const notices = {
  title: "Needs your attention",
  dismiss: "Dismiss",
  more: (count: number) => `+ ${count} more`,
  failing: (percent: number) =>
    percent === 100
      ? "The latest attempts at an endpoint all failed."
      : `At least ${percent} % of the latest attempts at an endpoint failed.`,
  failedRuns: "Some events did not reach an endpoint. We have stopped retrying them.",
  keyEnds: "An API key ends on",
  keyEnded: "An API key has ended. Its clients are refused.",
  overlapEnds:
    "Your receiver must accept both signing secrets. Remove the old one a minute after the new one signs. It signs from",
  linkReused:
    "Somebody opened your link to this dashboard a second time. If it was not you, sign out everywhere. This stays for twelve hours: dismiss it when you are done.",
  showEndpoint: "Show the endpoint",
  showFailed: "Show failed deliveries",
  showKeys: "Show the keys",
  renewKey: "Renew the key",
  createKey: "Create a key",
} as const;
