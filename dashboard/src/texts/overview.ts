/** The start page. */
export const overview = {
  intro: "What happened in the last 24 hours.",
  attention: "Needs your attention",
  failedOfDay: (count: string) => `${count} failed`,
  open: (url: string) => `Open ${url}`,
  figures: "Deliveries of the last 24 hours",
  figuresHint:
    "Delivered counts successful attempts, repeats included, to endpoints that exist now. Its last minute or so may be missing.",
  atLeast: (count: number) => `${count}+`,
  latest: "Latest activity",
  showAll: "Show all",
  setUp: "Set up",
  setUpHint: "This list disappears when every step is done.",
  toDo: "To do:",
  steps: {
    key: {
      title: "Create an API key",
      text: "Your tools read your activity with it.",
      action: "Create a key",
    },
    endpoint: {
      title: "Create an endpoint",
      text: "We send it an event for each donation.",
      action: "Create an endpoint",
    },
    test: {
      title: "Send a test",
      text: "A signed event with test: true, sent the same way as every other.",
      action: "Open the endpoint",
    },
    delivered: {
      title: "Answer it",
      text: "Set the signing secret as WEBHOOK_SECRET in your receiver. Verify the event and answer with 2xx.",
      action: "Show what happened",
    },
  },
} as const;
