import { parseActivityQuery } from "../query/activity-query.ts";
import { renderPage } from "../render/page.ts";
import type { Read } from "./read.ts";

/** Parses a request for a page of activity. §4.2 */
export function parseListActivities(query: string): Read {
  const request = parseActivityQuery(query);
  return async (upstream, options) =>
    renderPage(await upstream.activity.listActivities(request, options));
}
