import type { LocalSettings } from "./local-settings.ts";
import type { Product } from "./product.ts";

/** The block that `npm start` ends with: where the product is, and lines that work when pasted. */
export function welcome(product: Product, local: LocalSettings, logPath: string): string {
  const base = `http://127.0.0.1:${product.gatewayPort}/api/v1`;
  const curl = `curl -s -H "Authorization: Bearer $KEY"`;
  return `
The activity API runs.

  Base URL   ${base}
  Core       127.0.0.1:${product.corePort} (gRPC, gRPC-Web and Connect, with reflection)
  Demo key   ${local.demo?.apiKey}
  Log        ${logPath}

Paste these:

  KEY=${local.demo?.apiKey}
  ${curl} "${base}/me"
  ${curl} "${base}/activity?limit=5"
  ${curl} "${base}/activity?type=donation&order=asc&limit=5"

A receiver on this machine prints the webhook events of the demo account below. In another terminal:

  npm run --silent donate -- "Ada" 500 "For the stream"

Ctrl-C stops everything.
`;
}
