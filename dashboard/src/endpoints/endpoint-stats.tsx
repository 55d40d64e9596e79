import { lazy, Suspense, useState } from "react";
import { durationText } from "../common/duration-text.ts";
import { Facts } from "../common/facts.tsx";
import { Loaded } from "../common/loaded.tsx";
import { RadioField } from "../common/radio-field.tsx";
import { Section } from "../common/section.tsx";
import { LOCALE, texts } from "../texts.ts";
import { HOUR_MS, spansOf, sumOf } from "./hours.ts";
import { rateText } from "./rate-text.ts";
import { DAY_HOURS, MONTH_DAYS, useStats } from "./use-stats.ts";

/** Charts are the one part that is loaded when it is needed. */
const StatsChart = lazy(async () => ({
  default: (await import("./stats-chart.tsx")).StatsChart,
}));

/** How an endpoint did in the last day or month: success rate, attempts and times. */
export function EndpointStats({ endpointId }: { endpointId: string }) {
  const [range, setRange] = useState("day");
  const { query, dayMs, monthMs } = useStats(endpointId);
  const isDay = range === "day";
  const fromMs = isDay ? dayMs : monthMs;
  return (
    <Section
      title={texts.endpoints.statsTitle}
      hint={texts.endpoints.statsHint}
      aside={
        <RadioField
          label={texts.endpoints.range}
          value={range}
          onChange={setRange}
          choices={[
            { value: "day", text: texts.endpoints.lastDay },
            { value: "month", text: texts.endpoints.lastMonth },
          ]}
        />
      }
    >
      <Loaded query={query}>
        {({ hours }) => {
          const sum = sumOf(hours, fromMs);
          const spans = isDay
            ? spansOf(hours, dayMs, HOUR_MS, DAY_HOURS)
            : spansOf(hours, monthMs, DAY_HOURS * HOUR_MS, MONTH_DAYS);
          const number = (value: number) => value.toLocaleString(LOCALE);
          const time = (value: number) =>
            sum.rate === undefined ? texts.none : durationText(value);
          return (
            <>
              <Facts
                facts={[
                  [texts.endpoints.successRate, rateText(sum.rate)],
                  [texts.endpoints.attempts, number(sum.delivered + sum.failed)],
                  [texts.endpoints.delivered, number(sum.delivered)],
                  [texts.endpoints.failed, number(sum.failed)],
                  [texts.endpoints.meanDuration, time(sum.meanMs)],
                  [texts.endpoints.longestDuration, time(sum.longestMs)],
                ]}
              />
              {sum.rate !== undefined && (
                <Suspense>
                  <StatsChart
                    key={range}
                    spans={spans}
                    label={texts.endpoints.chart(number(sum.delivered), number(sum.failed))}
                  />
                </Suspense>
              )}
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}
