import { useState } from "react";
import { ChoiceBox } from "../common/choice-box.tsx";
import { Empty } from "../common/empty.tsx";
import { Loaded } from "../common/loaded.tsx";
import { MoreButton } from "../common/more-button.tsx";
import { Page } from "../common/page.tsx";
import { useFilters } from "../common/use-filters.ts";
import { texts } from "../texts.ts";
import { ActivityFilters } from "./activity-filters.tsx";
import { useActivities } from "./activity-query.ts";
import { ActivityTable } from "./activity-table.tsx";

/** The account's feed, as the API shows it. Contract 4.2. */
export function ActivityPage() {
  const filters = useFilters();
  const [isFollowed, setIsFollowed] = useState(true);
  const query = useActivities(filters, isFollowed);
  const hasOlder = (query.data?.pages.length ?? 0) > 1;
  return (
    <Page
      title={texts.pages.activity}
      state={
        isFollowed
          ? hasOlder
            ? texts.activity.paused
            : texts.activity.following
          : texts.activity.intro
      }
      actions={
        <ChoiceBox type="checkbox" isChosen={isFollowed} onChange={setIsFollowed}>
          {texts.follow}
        </ChoiceBox>
      }
    >
      <ActivityFilters filters={filters} />
      <Loaded query={query}>
        {({ pages }) => {
          const activities = pages.flatMap((page) => page.activities);
          const empty = filters.isAny ? (
            <Empty title={texts.activity.noneFound} text={texts.activity.noneFoundText} />
          ) : (
            <Empty title={texts.activity.empty} text={texts.activity.emptyText} />
          );
          return (
            <>
              {activities.length > 0 && <ActivityTable activities={activities} />}
              <div role="status">{activities.length === 0 && empty}</div>
            </>
          );
        }}
      </Loaded>
      <MoreButton query={query} />
    </Page>
  );
}
