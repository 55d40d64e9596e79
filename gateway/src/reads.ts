import { type ListActivitiesRequest, type ListActivitiesResponse, Order } from "@activity/proto";
import type { CallOptions } from "@connectrpc/connect";
import type { GatewayResponse } from "./gateway-response.ts";
import type { KeptPages } from "./kept-pages.ts";
import { parseActivityQuery } from "./query/activity-query.ts";
import { parseStrictQuery } from "./query/strict-query.ts";
import { renderMe } from "./render-me.ts";
import type { Upstream } from "./upstream.ts";

/** The inputs of a read. */
export type ReadContext = {
  readonly upstream: Upstream;
  readonly pages: KeptPages;
  readonly apiKey: string;
  readonly options: CallOptions;
};

/** The result of a read. */
export type ReadPage = {
  /** The JSON. */
  readonly body: NonNullable<GatewayResponse["body"]>;
  /** Set if the page is empty and a record may still fill it: the account, and the feed's version at the read. */
  readonly emptyFeed?: { readonly accountId: string; readonly version: bigint } | undefined;
};

/** A read with valid parameters. It makes one upstream call. */
export type Read = (context: ReadContext) => Promise<ReadPage>;

/** Parses the query of a path. Throws InvalidParameterError. */
export type ParseRead = (query: string) => Read;

/** Parses the query of `/me`, which takes no parameters. §4.1 */
export function parseGetMe(query: string): Read {
  parseStrictQuery(query, []);
  return async ({ upstream, options }) => ({
    body: renderMe(await upstream.me.getMe({}, options)),
  });
}

/**
 * Parses the query of `/activity`. One call counts and checks the request, and compares the kept page's etag. §4.2
 */
export function parseListActivities(query: string): Read {
  const request = { ...parseActivityQuery(query), asJson: true };
  return (context) => readPage(context, query, request);
}

async function readPage(
  { upstream, pages, apiKey, options }: ReadContext,
  query: string,
  request: ListActivitiesRequest,
): Promise<ReadPage> {
  const kept = pages.find(apiKey, query);
  // A poll that waits uses `request` again. If its page is no longer kept, this removes the earlier etag.
  if (kept === undefined) delete request.ifNoneMatch;
  else request.ifNoneMatch = kept.etag;
  const page = await upstream.activity.listActivities(request, options);
  if (page.notModified && kept !== undefined) {
    return { body: kept.body, emptyFeed: kept.isEmpty ? feedOf(request, page) : undefined };
  }
  const { etag, isEmpty, json } = page;
  const body = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  pages.note(apiKey, query, { etag, body, isEmpty });
  return { body, emptyFeed: isEmpty ? feedOf(request, page) : undefined };
}

function feedOf(
  { order, until }: ListActivitiesRequest,
  { accountId, feedVersion: version }: ListActivitiesResponse,
): ReadPage["emptyFeed"] {
  const mayFill = order === Order.ASC && until === undefined;
  return mayFill ? { accountId, version } : undefined;
}
