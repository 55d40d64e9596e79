import { FeedError, type FeedErrorCode } from "./feed-error.ts";

const ADVICE: Partial<Record<FeedErrorCode, string>> = {
  invalid_api_key: "Create a key in the dashboard, and start again with it.",
  account_unavailable: "Start again once the account is available.",
  invalid_cursor: "Start again without the cursor.",
  invalid_parameter: "Correct the option that the message names.",
};

/** Returns the error for an answer that must not be retried. §7 */
export function errorFromAnswer(status: number, text: string, url: string): FeedError {
  const { code, message, request_id: requestId } = parseError(text);
  const hasAdvice = code !== undefined && Object.hasOwn(ADVICE, code);
  if (hasAdvice) {
    const feedCode = code as FeedErrorCode; // A key of ADVICE.
    const id = requestId ? ` (request ${requestId})` : "";
    return new FeedError(feedCode, `${message ?? feedCode} ${ADVICE[feedCode]}${id}`, {
      requestId,
    });
  }
  const answer = message ? `${status} (${message})` : `${status} without a page of the API`;
  return new FeedError(
    "unexpected_answer",
    `${url} answered ${answer}. Check baseUrl: it is the API's address and ends in /api/v1.`,
    { requestId },
  );
}

type ErrorBody = {
  readonly code?: string;
  readonly message?: string;
  readonly request_id?: string;
};

function parseError(text: string): ErrorBody {
  try {
    const { error } = JSON.parse(text);
    return typeof error === "object" && error !== null ? error : {};
  } catch {
    return {};
  }
}
