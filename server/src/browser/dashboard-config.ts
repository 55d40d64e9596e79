import { readTrustedProxies } from "@activity/runtime/client-address";
import { type Environment, type Problem, readPort } from "@activity/runtime/environment";

/** Where browsers find the dashboard, and what the core that serves it needs to know. */
export type DashboardConfig = {
  /** Scheme, host and port, exactly as browsers name it in `Origin`. */
  readonly origin: string;
  /** Origins whose pages may embed it. */
  readonly frameAncestors: readonly string[];
  readonly isEmbedded: boolean;
  /** Where clients find the read API, for the page to show; empty when it is not told. */
  readonly apiUrl: string;
  /** Where this core listens for browsers; a core that does not can make links all the same. */
  readonly host: string;
  readonly port: number | undefined;
  /** The folder of the built page. */
  readonly files: string | undefined;
  readonly trustedProxies: readonly string[];
};

/** What a policy can name: no wildcard, and no character that ends a source in it. */
const HTTPS = /^https:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
/** As it stands in the page's command to try a key: nothing that a shell would take as its own. */
const API_URL = /^https?:\/\/[a-z0-9.:[\]-]+(\/[A-Za-z0-9._-]+)*\/api\/v1$/;

/** Reads the settings of the dashboard, which is nowhere without DASHBOARD_URL; tells `problem` what is wrong. */
export function readDashboard(env: Environment, problem: Problem): DashboardConfig | undefined {
  const port = readPort(env, "DASHBOARD_PORT", problem);
  const origin = env.DASHBOARD_URL || undefined;
  const frameAncestors = (env.DASHBOARD_FRAME_ANCESTORS ?? "").split(",").filter(Boolean);
  if (origin === undefined ? port !== undefined : !isOrigin(origin)) {
    problem(
      "DASHBOARD_URL must be the address that browsers find the dashboard at: https://, a host and nothing behind it, such as https://dash.example.com, or http://localhost:4180 on this machine.",
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

/** Browsers keep a secure cookie of an https address, and of this machine. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text) || new URL(text).origin !== text) return false;
  return HTTPS.test(text) || LOOPBACK.test(text);
}
