import { NoticeKind } from "./notice.ts";

/** Returns two or three sentences: what happened and what the owner can do, without names. */
export function adviceOf(kind: NoticeKind, level: number): string {
  switch (kind) {
    case NoticeKind.EndpointFailing:
      return `${level === 100 ? "All" : `At least ${level} %`} of the latest attempts at an endpoint failed. Look at its latest deliveries, fix the receiver or the URL, and retry the failed ones.`;
    case NoticeKind.RunFailed:
      return "An endpoint did not accept some events, and no more retries follow. Fix the receiver or the URL, then retry its failed deliveries.";
    case NoticeKind.ApiKeyEnds:
      return level === 0
        ? "An API key has ended, and its clients are refused. Create a new key and give it to them."
        : `An API key ends in ${level} days or less. Renew it: its text stays the same.`;
    case NoticeKind.SecretOverlapEnds:
      return "An endpoint's new signing secret signs soon, or signs already. Check that the receiver accepts both. Remove the old one a minute after the new one signs.";
    case NoticeKind.SessionLinkReused:
      return "A link into the dashboard was opened a second time. If that was not you, sign out everywhere.";
  }
}
