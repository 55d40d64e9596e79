import { ActivityType, Platform } from "@activity/proto";
import { choicesOf } from "../common/choices.ts";
import { FilterBar } from "../common/filter-bar.tsx";
import { SelectField } from "../common/select-field.tsx";
import { TimeFilter } from "../common/time-filter.tsx";
import type { Filters } from "../common/use-filters.ts";
import { texts } from "../texts.ts";

/** The filters of the list of activities, as in the API. Contract 4.2. */
export function ActivityFilters({ filters }: { filters: Filters }) {
  return (
    <FilterBar filters={filters}>
      <SelectField
        label={texts.activity.type}
        value={filters.choice("type", Object.values(ActivityType))}
        choices={choicesOf<ActivityType>(texts.activity.types)}
        onChange={(value) => filters.set("type", value)}
      />
      <SelectField
        label={texts.activity.platform}
        value={filters.choice("platform", Object.values(Platform))}
        choices={choicesOf<Platform>(texts.activity.platforms)}
        onChange={(value) => filters.set("platform", value)}
      />
      <TimeFilter filters={filters} since={texts.activity.since} until={texts.activity.until} />
    </FilterBar>
  );
}
