/** The default `baseUrl` of `@activity/feed`. */
const DEFAULT_BASE_URL = "http://127.0.0.1:8080/api/v1";

/** The text at the end of `npm start`: the product's addresses, and lines that work when pasted. */
export function welcome(
  at: {
    /** `host:port` as this machine reaches it. */
    readonly gateway: string;
    readonly core: string;
    /** A link into the demo account's dashboard; `undefined` if there is no page. */
    readonly dashboard: string | undefined;
    /** The page for a browser source of OBS. */
    readonly overlay: string;
    readonly logPath: string;
  },
  apiKey: string,
): string {
  const base = `http://${at.gateway}/api/v1`;
  // Names the address unless it is the client's default. Otherwise the client would call its default, and wait
  // silently.
  const baseUrl =
    base === DEFAULT_BASE_URL
      ? ""
      : `
@activity/feed needs this address: pass baseUrl: "${base}" to it, and --base-url to its commands.
`;
  // Uses no proxy: one that a variable names cannot reach this machine, and must not see the API key.
  const curl = `curl -s --noproxy "*" -H "Authorization: Bearer $ACTIVITY_KEY"`;
  return `
The activity API runs.

  Base URL   ${base}
  Core       ${at.core} (gRPC, gRPC-Web and Connect, with reflection)
  Demo key   ${apiKey}
  Log        ${at.logPath}
  Dashboard  ${at.dashboard ?? "is not built: the reason is printed above"}
  Overlay    ${at.overlay}

Paste these:

  export ACTIVITY_KEY=${apiKey}
  ${curl} "${base}/me"
  ${curl} "${base}/activity?limit=5"
  ${curl} "${base}/activity?type=donation&order=asc&limit=5"
${baseUrl}
A receiver on this machine prints the webhook events of the demo account below. In another terminal:

  npm run --silent demo -- donate "Ada" 500 "For the stream"

The dashboard's link lets one browser in, within five minutes. For another one:

  npm run --silent dashboard

Ctrl-C stops everything.
`;
}
