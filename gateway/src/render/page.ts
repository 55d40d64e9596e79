import type { ListActivitiesResponse } from "@activity/proto";
import { renderActivity } from "./activity.ts";

/** Renders the body of `GET /activity`. §4.2 */
export function renderPage(page: ListActivitiesResponse): string {
  let activities = "";
  for (const activity of page.activities) {
    activities += activities === "" ? renderActivity(activity) : `,${renderActivity(activity)}`;
  }
  const nextCursor = page.nextCursor === undefined ? "null" : JSON.stringify(page.nextCursor);
  return `{"data":[${activities}],"pagination":{"has_more":${page.hasMore},"next_cursor":${nextCursor}}}`;
}
