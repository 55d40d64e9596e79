import { NoticeService, NoticeSeverity } from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "../common/button.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { Notice } from "../common/notice.tsx";
import { useChange } from "../common/use-change.ts";
import { useEndpoints } from "../deliveries/use-endpoints.ts";
import { texts } from "../texts.ts";
import { mostSerious } from "./most-serious.ts";
import { NoticeAction } from "./notice-action.tsx";
import { NoticeText } from "./notice-text.tsx";

const READ_AGAIN_MS = 30_000;

/** Shows the most serious notice on every page, with one action, until this session dismisses it. */
export function NoticeBanner() {
  const { data } = useQuery(
    NoticeService.method.listOpenNotices,
    {},
    { refetchInterval: READ_AGAIN_MS },
  );
  const { mutate, error, isPending, variables } = useChange(NoticeService.method.dismissNotice);
  const notices = data?.notices ?? [];
  const notice = mostSerious(notices);
  const name = useEndpoints()?.get(notice?.subjectId ?? "")?.name;
  return (
    <>
      <div role="status">
        {notice && (
          <section aria-label={texts.notices.title}>
            <Notice look={notice.severity >= NoticeSeverity.CRITICAL ? "bad" : "warn"}>
              <span>
                {name && (
                  <>
                    <bdi>{name}</bdi>:{" "}
                  </>
                )}
                <NoticeText notice={notice} />
              </span>
              <NoticeAction notice={notice} />
              <Button
                // Each notice has its own button, which does not get the focus: Enter pressed twice must not dismiss
                // the next notice too.
                key={String(notice.sequence)}
                look="quiet"
                isPending={isPending}
                onClick={() => mutate({ sequence: notice.sequence })}
              >
                {texts.notices.dismiss}
              </Button>
              {notices.length > 1 && <span>{texts.notices.more(notices.length - 1)}</span>}
            </Notice>
          </section>
        )}
      </div>
      <ErrorNotice error={notice && variables?.sequence === notice.sequence && error} />
    </>
  );
}
