/** The closed list of `FeedError.code`: why a call ended. */
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

/** Ends a call when a retry would not help. Its message never has the API key. */
export class FeedError extends Error {
  override readonly name = "FeedError";
  readonly code: FeedErrorCode;
  /** The service's id of the request. Give it when you ask for support. */
  readonly requestId: string | undefined;

  constructor(
    code: FeedErrorCode,
    message: string,
    details: { readonly requestId?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.requestId = details.requestId;
  }
}
