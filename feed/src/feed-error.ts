/** Why a call ended: the closed list of `FeedError.code`. */
export const FEED_ERROR_CODES = [
  "invalid_api_key",
  "account_unavailable",
  "invalid_cursor",
  "invalid_parameter",
  "unexpected_answer",
  "unavailable",
  "invalid_option",
  "invalid_checkpoint",
  "in_browser",
] as const;

export type FeedErrorCode = (typeof FEED_ERROR_CODES)[number];

/** What a call ends with when trying again would not help. Its message never has the API key. */
export class FeedError extends Error {
  override readonly name = "FeedError";
  readonly code: FeedErrorCode;
  /** The service's id of the request, to be named when asking for help. */
  readonly requestId: string | undefined;

  constructor(
    code: FeedErrorCode,
    message: string,
    details: { readonly requestId?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, "cause" in details ? { cause: details.cause } : {});
    this.code = code;
    this.requestId = details.requestId;
  }
}
