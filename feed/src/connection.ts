import { FeedError } from "./feed-error.ts";

/** The part of `fetch` that the client uses. The global `fetch` fits, and so do those of libraries. */
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

/** Why a request is retried later. */
export type WaitReason =
  | "rate_limit_exceeded"
  | "temporarily_unavailable"
  | "server_error"
  | "network_error"
  | "timeout";

/** The options of every call. */
export interface ConnectionOptions {
  /** The API key of the account: `act_live_` and 64 hexadecimal characters. Required. */
  readonly apiKey: string | undefined;
  /** The API's address, up to `/api/v1`. Default: the address of the service's `npm start`. */
  readonly baseUrl?: string | undefined;
  /** Ends the current request or wait. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the global `fetch`, for example to use a proxy or to log. */
  readonly fetch?: Fetch | undefined;
  /**
   * Called each time a request fails, with the milliseconds until it is retried. It may be async. If this function
   * fails, `follow` logs the failure, and `list` and `me` end with it.
   */
  readonly onWait?: ((reason: WaitReason, ms: number) => unknown) | undefined;
}

/** The checked options of a call. */
export interface Connection {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly fetch: Fetch;
}

/** The address of the service's `npm start`. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:8080/api/v1";
const API_KEY = /^[a-z]+_live_[0-9a-f]{64}$/;
const globalFetch: Fetch = (url, request) => fetch(url, request);

/** Checks the options of a call. Throws a `FeedError` that says what is wrong. In a browser it always throws. */
export function parseConnection(options: ConnectionOptions): Connection {
  if (isInBrowser()) {
    throw new FeedError(
      "in_browser",
      "This page would show the API key to everybody who opens it. Run `npx @activity/feed hub` " +
        "on the streamer's machine and open its overlay, or follow in a program and send the page what it may show.",
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

/** Creates the error for an invalid option. */
export function invalidOption(message: string): FeedError {
  return new FeedError("invalid_option", message);
}

function isInBrowser(): boolean {
  const { navigator }: { navigator?: { userAgent?: string } } = globalThis;
  // A browser's worker has no document, but its user agent begins with Mozilla/. On servers the user agent names the
  // runtime: Node.js, Deno, Bun, Cloudflare-Workers.
  const isWorker = navigator?.userAgent?.startsWith("Mozilla/") ?? false;
  return isWorker || ("window" in globalThis && "document" in globalThis);
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
