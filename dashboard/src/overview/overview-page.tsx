import { SessionScope } from "@activity/proto";
import { Page } from "../common/page.tsx";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { Attention } from "./attention.tsx";
import { Checklist } from "./checklist.tsx";
import { DayFigures } from "./day-figures.tsx";
import { LatestActivity } from "./latest-activity.tsx";

/** The start page: setup steps, problems, the numbers of the last day, and the latest activity. */
export function OverviewPage() {
  const mayReadDeliveries = useMay(SessionScope.DELIVERIES_READ);
  const mayReadActivity = useMay(SessionScope.ACTIVITY_READ);
  return (
    <Page title={texts.pages.overview} intro={texts.overview.intro}>
      <Checklist />
      <Attention />
      {mayReadDeliveries && <DayFigures />}
      {mayReadActivity && <LatestActivity />}
    </Page>
  );
}
