import { DeliveryState } from "@activity/proto";
import { Link } from "wouter";
import { localFromMs } from "../common/local-time.ts";
import { Section } from "../common/section.tsx";
import { dayStartMs, useDayStats } from "../endpoints/use-stats.ts";
import { LOCALE, texts } from "../texts.ts";
import styles from "./overview.module.css";
import { countText, useDayDeliveries } from "./use-day-deliveries.ts";

/**
 * The number of the last day's deliveries in each state. For delivered ones, it is the number of successful attempts.
 * Each number links to its deliveries.
 */
export function DayFigures() {
  const stats = useDayStats();
  // Without endpoints, nothing is sent.
  if (stats?.length === 0) return null;
  const delivered = stats?.reduce((sum, each) => sum + each.delivered, 0);
  return (
    <Section title={texts.overview.figures} hint={texts.overview.figuresHint}>
      <dl className={styles.figures}>
        <Figure
          value={delivered?.toLocaleString(LOCALE) ?? texts.none}
          state={DeliveryState.DELIVERED}
        />
        <Counted state={DeliveryState.FAILED} />
        <Counted state={DeliveryState.RETRYING} />
        <Counted state={DeliveryState.PENDING} />
      </dl>
    </Section>
  );
}

function Counted({ state }: { state: DeliveryState }) {
  const { isRead, deliveries, isAll } = useDayDeliveries(state);
  return (
    <Figure
      value={isRead ? countText(deliveries.length, isAll) : texts.none}
      state={state}
      isBad={state === DeliveryState.FAILED && deliveries.length > 0}
    />
  );
}

function Figure({ value, state, isBad }: { value: string; state: DeliveryState; isBad?: boolean }) {
  const name = texts.deliveries.states[state];
  // The link begins where the count does. The list's "24 hours" would begin up to an hour earlier.
  const since = localFromMs(dayStartMs());
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd className={isBad ? styles.bad : undefined}>
        <Link
          href={`/deliveries?state=${state}&span=custom&since=${since}`}
          aria-label={`${name}: ${value}`}
        >
          {value}
        </Link>
      </dd>
    </div>
  );
}
