import { AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { LOCALE, many, type Words } from "./words.ts";

/** Texts of the pages of deliveries. Other pages use the names of kinds and outcomes too. */
export const deliveries = {
  intro: "Each webhook event to each endpoint, newest first.",
  paused: "Live updates stop while older deliveries are shown. Reload the page to resume.",
  empty: "No deliveries yet",
  emptyText: "They appear once you have an endpoint and a donation arrives or you send a test.",
  noneFound: "No delivery matches",
  noneFoundText: "Change or clear the filters.",
  event: "Event",
  testEvent: "Test event",
  donation: "Donation",
  eventId: "Event id",
  eventIdIncomplete: "Enter the whole id: wev_ and 15 letters or digits.",
  endpoint: "Endpoint",
  gone: "Deleted endpoint",
  state: "State",
  kind: "Kind",
  outcome: "Outcome",
  attempts: "Attempts",
  createdAt: "Time",
  since: "From",
  until: "Until",
  title: "Delivery",
  run: (run: number) => (run === 1 ? "First run" : `Manual retry ${run - 1}`),
  attempt: (attempt: number) => `Attempt ${attempt}`,
  attemptsMade: (attempts: number, limit: number) => `${attempts} of ${limit}`,
  next: "Next attempt",
  nextIn: (text: string) => `in ${text}`,
  nextNow: "any moment now",
  attemptsTitle: "Attempts",
  noAttempts: "No attempt yet.",
  newest: "The newest 200 attempts.",
  status: "Status",
  answered: "What came back",
  headersReceived: "Headers received",
  headers: "Headers of the request",
  headersIfSent: "Headers of the request, if it was sent",
  headersToo:
    "With Standard Webhooks on, webhook-id, webhook-timestamp and webhook-signature are added.",
  signatureOf: "<HMAC-SHA256 of timestamp.id.body>",
  replay: "Send it from your machine",
  replayHint:
    "Export WEBHOOK_SECRET first. Both commands sign this event with the current time. They do not send the headers of Standard Webhooks.",
  kit: "receiver-kit send",
  curl: "curl",
  localUrl: "http://127.0.0.1:3000/webhooks",
  payload: "Payload",
  payloadHint: "Every attempt sends this. Copy gives the exact bytes.",
  payloadErased: "Erased, because its donation was deleted.",
  check: "What to check",
  retried: "We retry it.",
  retry: "Retry",
  includeDelivered: "Include delivered events, if your receiver lost them",
  retryNow: "Retry now",
  sendAgain: "Send again",
  retryFailed: "Retry failed",
  retryFailedTitle: "Retry failed deliveries",
  retryFailedText: "We retry failed, canceled and paused deliveries to endpoints that are on.",
  retryFailedWider: "This ignores the list's filters for state, event id or a deleted endpoint.",
  allEndpoints: "All endpoints",
  stopRetry: "Stop",
  goOnRetrying: "Continue",
  retryFailedSince: "Created from",
  sinceMissing: "Choose a time.",
  retryFailedUntil: "Created until",
  untilNow: "Empty means now.",
  retriable: (count: number, isAll: boolean) =>
    count === 0
      ? "There is nothing to retry."
      : `${isAll ? "" : "At least "}${many(count, "delivery", "deliveries")} will be retried.`,
  retriedCount: (count: number) =>
    count === 0
      ? "There was nothing to retry."
      : `${many(count, "delivery is", "deliveries are")} on the way.`,
  onTheWayOf: (onTheWay: number, count: number, isAll: boolean) =>
    `${onTheWay.toLocaleString(LOCALE)} of ${isAll ? "" : "at least "}${count.toLocaleString(LOCALE)} on the way`,
  stoppedAt: (onTheWay: number) =>
    `Stopped. ${many(onTheWay, "delivery is", "deliveries are")} on the way.`,
  downloadCsv: "Download CSV",
  reading: (count: number) => `Reading ${count.toLocaleString(LOCALE)} …`,
  csvCut: (count: number) =>
    `The file has the newest ${count.toLocaleString(LOCALE)}. Choose a shorter time for the rest.`,
  states: {
    [DeliveryState.UNSPECIFIED]: "",
    [DeliveryState.PENDING]: "Pending",
    [DeliveryState.RETRYING]: "Retrying",
    [DeliveryState.DELIVERED]: "Delivered",
    [DeliveryState.FAILED]: "Failed",
    [DeliveryState.CANCELED]: "Canceled",
    [DeliveryState.PAUSED]: "Paused",
    [DeliveryState.ERASED]: "Erased",
  } satisfies Record<DeliveryState, string> as Words,
  endpointOff: "The endpoint is off. Switch it on to continue.",
  stateHints: {
    [DeliveryState.UNSPECIFIED]: "",
    [DeliveryState.PENDING]: "Its first attempt waits or is in flight.",
    [DeliveryState.RETRYING]: "The last attempt failed; another one is planned.",
    [DeliveryState.DELIVERED]: "Your server answered with a 2xx status.",
    [DeliveryState.FAILED]: "Delivery failed. Fix the cause, then retry.",
    [DeliveryState.CANCELED]:
      "The endpoint was switched off or deleted, or the account was blocked, before delivery.",
    [DeliveryState.PAUSED]:
      "The endpoint was switched off, or the account was blocked, when the event happened.",
    [DeliveryState.ERASED]: "Its donation was deleted, so we do not send it any more.",
  } satisfies Record<DeliveryState, string> as Words,
  outcomes: {
    [AttemptOutcome.UNSPECIFIED]: "",
    [AttemptOutcome.DELIVERED]: "Delivered",
    [AttemptOutcome.AUTH_REJECTED]: "Signature refused",
    [AttemptOutcome.ROUTE_NOT_FOUND]: "Route not found",
    [AttemptOutcome.REDIRECTED]: "Redirected",
    [AttemptOutcome.RECEIVER_BUSY]: "Receiver busy",
    [AttemptOutcome.REJECTED]: "Rejected",
    [AttemptOutcome.DNS_FAILED]: "Name not resolved",
    [AttemptOutcome.TIMEOUT]: "Timed out",
    [AttemptOutcome.NETWORK_ERROR]: "Network error",
    [AttemptOutcome.UNSAFE_TARGET]: "Unsafe target",
  } satisfies Record<AttemptOutcome, string> as Words,
  /** Advice to the owner after an attempt. Contract 6.4. */
  checks: {
    [AttemptOutcome.UNSPECIFIED]: "",
    [AttemptOutcome.DELIVERED]: "",
    [AttemptOutcome.AUTH_REJECTED]:
      "Check the secret and the receiver's clock. Verify the raw body before you parse it. We do not retry it.",
    [AttemptOutcome.ROUTE_NOT_FOUND]:
      "Check the route: your server has nothing at this URL. We do not retry it.",
    [AttemptOutcome.REDIRECTED]:
      "Use the final URL. We do not follow redirects. We do not retry it.",
    [AttemptOutcome.RECEIVER_BUSY]:
      "Your server failed, or is busy. Look in its log, and check its capacity.",
    [AttemptOutcome.REJECTED]:
      "Your server refused the event. Its answer may say why. After 400 from receiver-kit check the secret, the clock and the raw body. We do not retry it.",
    [AttemptOutcome.DNS_FAILED]: "Check the DNS: the host name did not resolve.",
    [AttemptOutcome.TIMEOUT]:
      "If there was no connection, check the address and the firewall. If the name was not resolved, check the DNS. Otherwise answer with 2xx within 10 seconds: store the event, or put long work into your own queue, before you answer.",
    [AttemptOutcome.NETWORK_ERROR]:
      "Check that the server is reachable and its certificate is valid.",
    [AttemptOutcome.UNSAFE_TARGET]:
      "The target must be a public HTTPS address. We refuse localhost, private addresses, and names with both public and internal addresses. Nothing was sent.",
  } satisfies Record<AttemptOutcome, string> as Words,
  kinds: {
    [WebhookEventKind.UNSPECIFIED]: "",
    [WebhookEventKind.DONATION_CREATED]: "donation.created",
    [WebhookEventKind.DONATION_REFUNDED]: "donation.refunded",
    [WebhookEventKind.DONATION_CHARGEBACK]: "donation.chargeback",
    [WebhookEventKind.SUBSCRIPTION_CREATED]: "subscription.created",
  } satisfies Record<WebhookEventKind, string> as Words,
} as const;
