import { texts } from "../texts.ts";
import { ChoiceBox } from "./choice-box.tsx";
import styles from "./filter-bar.module.css";
import { TextField } from "./text-field.tsx";
import { ZONE } from "./time.tsx";
import { SPANS } from "./time-range.ts";
import type { Filters } from "./use-filters.ts";

const CUSTOM = "custom";

/** A time range: a preset, or two moments in the reader's time zone. The labels name the zone. */
export function TimeFilter(props: { filters: Filters; since: string; until: string }) {
  const { filters } = props;
  const isCustom = filters.get("span") === CUSTOM || isAnySet(filters);
  const chosen = isCustom ? CUSTOM : filters.get("span");
  const choose = (span: string) => filters.setAll({ span, since: "", until: "" });
  return (
    <>
      <fieldset className={styles.presets} aria-label={texts.time}>
        {["", ...Object.keys(SPANS), CUSTOM].map((span) => (
          <ChoiceBox
            key={span}
            type="radio"
            name="span"
            isChosen={chosen === span}
            onChange={() => choose(span)}
          >
            {texts.spans[span as keyof typeof texts.spans]}
          </ChoiceBox>
        ))}
      </fieldset>
      {isCustom &&
        (["since", "until"] as const).map((name) => (
          <TextField
            key={name}
            label={`${props[name]} (${ZONE})`}
            type="datetime-local"
            value={filters.get(name)}
            onChange={(value) => filters.setAll({ span: CUSTOM, [name]: value })}
          />
        ))}
    </>
  );
}

function isAnySet(filters: Filters): boolean {
  return filters.get("since") !== "" || filters.get("until") !== "";
}
