import { Link } from "wouter";
import { useActivities } from "../activity/activity-query.ts";
import { ActivityTable } from "../activity/activity-table.tsx";
import { Empty } from "../common/empty.tsx";
import { Loaded } from "../common/loaded.tsx";
import { Section } from "../common/section.tsx";
import { useFilters } from "../common/use-filters.ts";
import { texts } from "../texts.ts";

const SHOWN = 5;

/** The newest records. They update when the feed changes. */
export function LatestActivity() {
  // This page has no filters, so the query reads all records.
  const query = useActivities(useFilters(), true, SHOWN);
  return (
    <Section
      title={texts.overview.latest}
      hint={texts.activity.following}
      aside={<Link href="/activity">{texts.overview.showAll}</Link>}
    >
      <Loaded query={query}>
        {({ pages: [first] }) =>
          first && first.activities.length > 0 ? (
            <ActivityTable activities={first.activities} />
          ) : (
            <Empty title={texts.activity.empty} text={texts.activity.emptyText} />
          )
        }
      </Loaded>
    </Section>
  );
}
