import { type Notice, NoticeKind } from "@activity/proto";
import { Time } from "../common/time.tsx";
import { texts } from "../texts.ts";

/** Describes a notice in one sentence. For a kind that this page does not know, it shows the server's advice. */
export function NoticeText({ notice }: { notice: Notice }) {
  const { kind, level, endsAt } = notice;
  switch (kind) {
    case NoticeKind.ENDPOINT_FAILING:
      return texts.notices.failing(level);
    case NoticeKind.API_KEY_ENDS:
      if (level === 0) return texts.notices.keyEnded;
      return (
        <>
          {texts.notices.keyEnds} <Time at={endsAt} />.
        </>
      );
    case NoticeKind.SECRET_OVERLAP_ENDS:
      return (
        <>
          {texts.notices.overlapEnds} <Time at={endsAt} />.
        </>
      );
    case NoticeKind.RUN_FAILED:
      return texts.notices.failedRuns;
    case NoticeKind.SESSION_LINK_REUSED:
      return texts.notices.linkReused;
    default:
      return notice.advice;
  }
}
