import { FeedError } from "./feed-error.ts";

/** What the client calls of `fetch`: the global one fits, and so do those of libraries. */
export type Fetch = (
  url: string,
  request: {
    readonly headers: Record<string, string>;
    readonly signal: AbortSignal;
    readonly redirect: "manual";
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

/** Why a request is made again later. */
export type WaitReason =
  | "rate_limit_exceeded"
  | "temporarily_unavailable"
  | "server_error"
  | "network_error"
  | "timeout";

/** What every call takes. */
export interface ConnectionOptions {
  /** The API key of the account: `act_live_` and 64 hexadecimal characters. Required. */
  readonly apiKey: string | undefined;
  /** Where the API is, up to `/api/v1`. Default: where `npm start` of the service listens. */
  readonly baseUrl?: string | undefined;
  /** Ends the request or the wait in flight. */
  readonly signal?: AbortSignal | undefined;
  /** Used in place of the global `fetch`, for a proxy or a log. */
  readonly fetch?: Fetch | undefined;
  /** Is told each time that a request failed and is made again after so many milliseconds. */
  readonly onWait?: ((reason: WaitReason, ms: number) => void) | undefined;
}

/** The options of a call, checked. */
export interface Connection {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly fetch: Fetch;
}

const DEFAULT_BASE_URL = "http://127.0.0.1:8080/api/v1";
const API_KEY = /^[a-z]+_live_[0-9a-f]{64}$/;
const globalFetch: Fetch = (url, request) => fetch(url, request);

/** Checks the options of a call. Throws a `FeedError` that says what is wrong, in a browser too. */
export function parseConnection(options: ConnectionOptions): Connection {
  if ("window" in globalThis && "document" in globalThis) {
    throw new FeedError(
      "in_browser",
      "This page would show the API key to everybody who opens it. Run `npx @activity/feed hub` " +
        "on the streamer's machine, and have the page read the hub, which needs no key.",
    );
  }
  const apiKey = options.apiKey?.trim() ?? "";
  if (!API_KEY.test(apiKey)) {
    const problem = apiKey === "" ? "is missing" : "is no API key";
    throw invalidOption(
      `apiKey ${problem}: pass the text that the dashboard showed once, act_live_ and 64 ` +
        "hexadecimal characters.",
    );
  }
  return {
    apiKey,
    baseUrl: parseBaseUrl(options.baseUrl ?? DEFAULT_BASE_URL),
    fetch: options.fetch ?? globalFetch,
  };
}

/** An error for an option that cannot be used. */
export function invalidOption(message: string): FeedError {
  return new FeedError("invalid_option", message);
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw invalidOption(
      "baseUrl must be an http or https URL without a user, query or fragment, such as " +
        `${DEFAULT_BASE_URL}.`,
    );
  }
  return url.href.replace(/\/+$/, "");
}
