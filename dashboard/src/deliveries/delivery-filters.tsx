import type { AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { choicesOf } from "../common/choices.ts";
import { FilterBar } from "../common/filter-bar.tsx";
import { SelectField } from "../common/select-field.tsx";
import { TextField } from "../common/text-field.tsx";
import { TimeFilter } from "../common/time-filter.tsx";
import type { Filters } from "../common/use-filters.ts";
import { texts } from "../texts.ts";
import { isEventId, listedEndpointId } from "./delivery-query.ts";
import { useEndpointChoices } from "./use-endpoints.ts";

const STATES = choicesOf<DeliveryState>(texts.deliveries.states);
export const KINDS = choicesOf<WebhookEventKind>(texts.deliveries.kinds);
export const OUTCOMES = choicesOf<AttemptOutcome>(texts.deliveries.outcomes);
const EVENT_ID_MAX = 100;

/** The filters of the list of deliveries. */
export function DeliveryFilters({ filters }: { filters: Filters }) {
  const eventId = filters.get("event");
  const endpointId = listedEndpointId(filters);
  const endpoints = useEndpointChoices(endpointId);
  const select = <Value extends number>(
    name: string,
    label: string,
    choices: readonly { readonly value: Value; readonly text: string }[],
  ) => (
    <SelectField
      label={label}
      value={
        filters.choice(
          name,
          choices.map(({ value }) => value),
        ) as Value
      }
      choices={choices}
      onChange={(value) => filters.set(name, value)}
    />
  );
  return (
    <FilterBar filters={filters}>
      <SelectField
        label={texts.deliveries.endpoint}
        value={endpointId}
        choices={[{ value: "", text: texts.all }, ...endpoints]}
        onChange={(value) => filters.set("endpoint", value)}
      />
      {select("state", texts.deliveries.state, STATES)}
      {select("kind", texts.deliveries.kind, KINDS)}
      {select("outcome", texts.deliveries.outcome, OUTCOMES)}
      <TextField
        label={texts.deliveries.eventId}
        value={eventId}
        hint={eventId && !isEventId(eventId) ? texts.deliveries.eventIdIncomplete : ""}
        // The page's address holds the text, so it must stay short.
        onChange={(value) => filters.set("event", value.trim().slice(0, EVENT_ID_MAX))}
      />
      <TimeFilter filters={filters} since={texts.deliveries.since} until={texts.deliveries.until} />
    </FilterBar>
  );
}
