import { SessionScope } from "@activity/proto";
import { useRef } from "react";
import { Link } from "wouter";
import { Section } from "../common/section.tsx";
import { RetryFailed } from "../deliveries/retry-failed.tsx";
import { EndpointBadge } from "../endpoints/endpoint-badge.tsx";
import { endpointText } from "../endpoints/endpoint-text.ts";
import { type DayStats, useDayStats } from "../endpoints/use-stats.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import styles from "./overview.module.css";
import { countText } from "./use-day-deliveries.ts";
import { type DayFailed, useDayFailed } from "./use-day-failed.ts";

const SERIOUS_FIRST = ["bad", "warn", "good", undefined];

/** The endpoints that fail or have failed deliveries of the last day. Each links to its page and offers a retry. */
export function Attention() {
  const failedOf = useDayFailed();
  // A repaired endpoint stays in the list until the page is left, because its list item holds the retry dialog.
  const shown = useRef(new Set<string>()).current;
  const failing = (useDayStats() ?? [])
    .filter(
      ({ endpoint: { id, switchedOn }, health }) =>
        (switchedOn && health === "bad") || failedOf(id).deliveries.length > 0 || shown.has(id),
    )
    .sort((a, b) => SERIOUS_FIRST.indexOf(a.health) - SERIOUS_FIRST.indexOf(b.health));
  for (const { endpoint } of failing) shown.add(endpoint.id);
  if (failing.length === 0) return null;
  return (
    <Section title={texts.overview.attention}>
      <ul className={styles.list}>
        {failing.map((stats) => (
          <Failing key={stats.endpoint.id} stats={stats} failed={failedOf(stats.endpoint.id)} />
        ))}
      </ul>
    </Section>
  );
}

function Failing(props: { stats: DayStats; failed: DayFailed }) {
  const { endpoint } = props.stats;
  const { deliveries, isAll } = props.failed;
  const [last] = deliveries;
  // After a switch-off the retry button and its dialog stay, because a bulk retry may be in progress.
  const wasOn = useRef(false);
  if (endpoint.switchedOn) wasOn.current = true;
  const mayRetry = useMay(SessionScope.DELIVERIES_WRITE) && wasOn.current;
  return (
    <li className={styles.item}>
      <EndpointBadge endpoint={endpoint} />
      <div className={styles.words}>
        <Link href={`/endpoints/${endpoint.id}`}>
          <bdi>{endpointText(endpoint)}</bdi>
        </Link>
        {last && (
          <span className={styles.muted}>
            {texts.overview.failedOfDay(countText(deliveries.length, isAll))} ·{" "}
            {texts.deliveries.outcomes[last.lastOutcome]}
          </span>
        )}
      </div>
      {mayRetry && (
        <RetryFailed
          filters={{ get: (name) => (name === "endpoint" ? endpoint.id : ""), choice: () => 0 }}
          of={endpointText(endpoint)}
        />
      )}
    </li>
  );
}
