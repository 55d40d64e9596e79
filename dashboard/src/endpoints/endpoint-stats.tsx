import { useState } from "react";
import { DAY_MS } from "../common/clock.ts";
import { durationText } from "../common/duration-text.ts";
import { Facts } from "../common/facts.tsx";
import { Loaded } from "../common/loaded.tsx";
import { RadioField } from "../common/radio-field.tsx";
import { Section } from "../common/section.tsx";
import { LOCALE, texts } from "../texts.ts";
import { HOUR_MS, percentileMs, spansOf, sumOf } from "./hours.ts";
import { rateText } from "./rate-text.ts";
import { StatsChart } from "./stats-chart.tsx";
import { useStats } from "./use-stats.ts";

const DAYS = { day: 1, week: 7, month: 30 } as const;

/** The statistics of an endpoint's last day, week or month: success rate, attempts and durations. */
export function EndpointStats({ endpointId }: { endpointId: string }) {
  const [range, setRange] = useState<keyof typeof DAYS>("day");
  const { query, dayMs } = useStats(endpointId);
  const days = DAYS[range];
  const fromMs = dayMs - (days - 1) * DAY_MS;
  return (
    <Section
      title={texts.endpoints.statsTitle}
      hint={texts.endpoints.statsHint}
      aside={
        <RadioField
          label={texts.endpoints.range}
          value={range}
          onChange={(value) => setRange(value as keyof typeof DAYS)}
          choices={Object.keys(DAYS).map((value) => ({
            value,
            text: texts.endpoints.ranges[value as keyof typeof DAYS],
          }))}
        />
      }
    >
      <Loaded query={query}>
        {({ hours, durationBoundsMs }) => {
          const sum = sumOf(hours, fromMs);
          const spanMs = days === 1 ? HOUR_MS : DAY_MS;
          const spans = spansOf(hours, fromMs, spanMs, (days * DAY_MS) / spanMs);
          const number = (value: number) => value.toLocaleString(LOCALE);
          const percentile = (share: number) => {
            const milliseconds = percentileMs(sum, durationBoundsMs, share);
            if (milliseconds === undefined) return texts.none;
            return texts.endpoints.about(durationText(milliseconds));
          };
          return (
            <>
              <Facts
                areShort
                facts={[
                  [texts.endpoints.successRate, rateText(sum.rate)],
                  [texts.endpoints.delivered, number(sum.delivered)],
                  [texts.endpoints.failed, number(sum.failed)],
                  ["p50", percentile(0.5)],
                  ["p95", percentile(0.95)],
                  [
                    texts.endpoints.longestDuration,
                    sum.rate === undefined ? texts.none : durationText(sum.longestMs),
                  ],
                ]}
              />
              {sum.rate !== undefined && (
                <StatsChart
                  endpointId={endpointId}
                  spans={spans}
                  spanMs={spanMs}
                  total={sum.counts}
                  label={texts.endpoints.chart(number(sum.delivered), number(sum.failed))}
                />
              )}
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}
