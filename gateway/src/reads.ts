import type { ListActivitiesRequest } from "@activity/proto";
import type { CallOptions } from "@connectrpc/connect";
import type { GatewayResponse } from "./gateway-response.ts";
import type { KeptPages } from "./kept-pages.ts";
import { parseActivityQuery } from "./query/activity-query.ts";
import { parseStrictQuery } from "./query/strict-query.ts";
import { renderMe } from "./render/me.ts";
import { renderPage } from "./render/page.ts";
import type { Upstream } from "./upstream.ts";

/** What a read has to do with. */
export type ReadContext = {
  readonly upstream: Upstream;
  readonly pages: KeptPages;
  readonly apiKey: string;
  readonly options: CallOptions;
};

/** A read whose parameters are good: makes the one upstream call and returns the JSON body. */
export type Read = (context: ReadContext) => Promise<NonNullable<GatewayResponse["body"]>>;

/** Parses the query of a path; throws InvalidParameterError. */
export type ParseRead = (query: string) => Read;

/** Parses a request for the key's account, which takes no parameters. §4.1 */
export function parseGetMe(query: string): Read {
  parseStrictQuery(query, []);
  return async ({ upstream, options }) => renderMe(await upstream.me.getMe({}, options));
}

/**
 * Parses a request for a page of activity. The core is asked whether a page that was kept is still the same,
 * by the very call that counts and checks the request. §4.2
 */
export function parseListActivities(query: string): Read {
  const request = parseActivityQuery(query);
  return (context) => readPage(context, query, request);
}

async function readPage(
  { upstream, pages, apiKey, options }: ReadContext,
  query: string,
  request: ListActivitiesRequest,
): Promise<string | Buffer> {
  const kept = pages.find(apiKey, query);
  if (kept !== undefined) request.ifNoneMatch = kept.etag;
  const page = await upstream.activity.listActivities(request, options);
  if (page.notModified && kept !== undefined) return kept.body;
  const body = renderPage(page);
  pages.note(apiKey, query, { etag: page.etag, body, isEmpty: page.activities.length === 0 });
  return body;
}
