import { type ListActivitiesRequest, type ListActivitiesResponse, Order } from "@activity/proto";
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

/** What a read brings. */
export type ReadPage = {
  /** The JSON. */
  readonly body: NonNullable<GatewayResponse["body"]>;
  /** The feed of a page that is empty and that a record may still come to: its version as the page was read. */
  readonly emptyFeed?: { readonly accountId: string; readonly version: bigint } | undefined;
};

/** A read whose parameters are good: makes one upstream call. */
export type Read = (context: ReadContext) => Promise<ReadPage>;

/** Parses the query of a path; throws InvalidParameterError. */
export type ParseRead = (query: string) => Read;

/** Parses a request for the key's account, which takes no parameters. §4.1 */
export function parseGetMe(query: string): Read {
  parseStrictQuery(query, []);
  return async ({ upstream, options }) => ({
    body: renderMe(await upstream.me.getMe({}, options)),
  });
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
): Promise<ReadPage> {
  const kept = pages.find(apiKey, query);
  // Without one it asks for the page: a read that waits may have lost the one before.
  if (kept === undefined) delete request.ifNoneMatch;
  else request.ifNoneMatch = kept.etag;
  const page = await upstream.activity.listActivities(request, options);
  if (page.notModified && kept !== undefined) {
    return { body: kept.body, emptyFeed: kept.isEmpty ? feedOf(request, page) : undefined };
  }
  const body = renderPage(page);
  const isEmpty = page.activities.length === 0;
  pages.note(apiKey, query, { etag: page.etag, body, isEmpty });
  return { body, emptyFeed: isEmpty ? feedOf(request, page) : undefined };
}

/** A core of the version before names no account: there is nothing to wait for. */
function feedOf(
  { order, until }: ListActivitiesRequest,
  { accountId, feedVersion: version }: ListActivitiesResponse,
): ReadPage["emptyFeed"] {
  const mayFill = order === Order.ASC && until === undefined && accountId !== "";
  return mayFill ? { accountId, version } : undefined;
}
