import type { ListActivitiesRequest } from "@activity/proto";
import { parseActivityQuery } from "../query/activity-query.ts";
import { renderPage } from "../render/page.ts";
import type { Read, ReadContext } from "./read.ts";

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
