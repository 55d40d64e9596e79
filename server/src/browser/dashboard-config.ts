import { readTrustedProxies } from "@activity/runtime/client-address";
import { type Environment, type Problem, readList, readPort } from "@activity/runtime/environment";

/** The settings of the dashboard. */
export type DashboardConfig = {
  /** Scheme, host and port, exactly as in a browser's `Origin` header. */
  readonly origin: string;
  /** Origins whose pages may embed the dashboard. */
  readonly frameAncestors: readonly string[];
  readonly isEmbedded: boolean;
  /** The read API's address, which the page shows. Empty if it is not configured. */
  readonly apiUrl: string;
  /** Where this core listens for browsers. A core without a port can still create links. */
  readonly host: string;
  readonly port: number | undefined;
  /** The folder of the built page. */
  readonly files: string | undefined;
  readonly trustedProxies: readonly string[];
};

/** Origins that are safe in a security policy: no wildcard, and no character that ends a source. */
const HTTPS = /^https:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
/** The page shows DASHBOARD_API_URL in a shell command, so it may hold no character with a meaning to a shell. */
const API_URL = /^https?:\/\/[a-z0-9.:[\]-]+(\/[A-Za-z0-9._-]+)*\/api\/v1$/;

/** Reads the dashboard's settings. Without DASHBOARD_URL there is no dashboard. Reports errors to `problem`. */
export function readDashboard(env: Environment, problem: Problem): DashboardConfig | undefined {
  const port = readPort(env, "DASHBOARD_PORT", problem);
  const origin = env.DASHBOARD_URL || undefined;
  const frameAncestors = readList(env, "DASHBOARD_FRAME_ANCESTORS");
  if (origin === undefined ? port !== undefined : !isOrigin(origin)) {
    problem(
      "DASHBOARD_URL must be the dashboard's origin in browsers, such as https://dash.example.com, or http://localhost:4180 on this machine.",
    );
  }
  if (!frameAncestors.every(isOrigin)) {
    problem(
      "DASHBOARD_FRAME_ANCESTORS must be the origins of the sites that embed the dashboard, separated by commas, such as https://www.example.com.",
    );
  }
  const apiUrl = env.DASHBOARD_API_URL ?? "";
  if (apiUrl !== "" && !API_URL.test(apiUrl)) {
    problem(
      "DASHBOARD_API_URL must be the address that clients find the read API at, such as https://api.example.com/api/v1.",
    );
  }
  const trustedProxies = port === undefined ? [] : readTrustedProxies(env, problem);
  if (origin === undefined) return undefined;
  return {
    origin,
    frameAncestors,
    isEmbedded: frameAncestors.length > 0,
    apiUrl,
    host: env.DASHBOARD_HOST || "127.0.0.1",
    port,
    files: env.DASHBOARD_FILES || undefined,
    trustedProxies,
  };
}

/** Accepts only an https origin or this machine, because browsers keep a secure cookie only from these. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text) || new URL(text).origin !== text) return false;
  return HTTPS.test(text) || LOOPBACK.test(text);
}
