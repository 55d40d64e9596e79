import { NoticeKind } from "./notice.ts";

/** Says in one or two sentences what happened and what its owner can do, without names. */
export function adviceOf(kind: NoticeKind, level: number): string {
  switch (kind) {
    case NoticeKind.EndpointFailing:
      return `${level} % of the latest attempts at an endpoint failed. Look at its latest deliveries, mend the receiver and retry what failed.`;
    case NoticeKind.RunFailed:
      return "An endpoint did not take some events, and they are not sent again by themselves. Mend the receiver, then retry its failed deliveries.";
    case NoticeKind.ApiKeyEnds:
      return level === 0
        ? "An API key has ended, and its clients are refused. Create a new key and give it to them."
        : `An API key ends in ${level} days or less. Renew it: its text stays the same.`;
    case NoticeKind.SecretOverlapEnds:
      return "An endpoint's old signing secret stops signing. Check that the receiver has the new one, then remove the old one from it.";
    case NoticeKind.SessionLinkReused:
      return "A link into the dashboard was opened a second time, in another browser. If that was not you, sign out everywhere.";
  }
}
