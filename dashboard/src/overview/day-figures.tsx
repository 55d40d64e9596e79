import { DeliveryState } from "@activity/proto";
import { Link } from "wouter";
import { Section } from "../common/section.tsx";
import { useDayStats } from "../endpoints/use-stats.ts";
import { LOCALE, texts } from "../texts.ts";
import styles from "./overview.module.css";
import { countText, useDayDeliveries, useDayFailed } from "./use-day-deliveries.ts";

/** How the deliveries of the last day went, each figure a link to them. */
export function DayFigures() {
  const stats = useDayStats();
  const failed = useDayFailed();
  const retrying = useDayDeliveries(DeliveryState.RETRYING);
  const pending = useDayDeliveries(DeliveryState.PENDING);
  const waiting = retrying.deliveries.length + pending.deliveries.length;
  const delivered = stats?.reduce((sum, each) => sum + each.delivered, 0);
  // Nothing can have been sent.
  if (stats?.length === 0) return null;
  return (
    <Section title={texts.overview.figures} hint={texts.overview.figuresHint}>
      <dl className={styles.figures}>
        <Figure
          name={texts.overview.delivered}
          value={delivered?.toLocaleString(LOCALE) ?? texts.none}
          state={DeliveryState.DELIVERED}
        />
        <Figure
          name={texts.overview.failed}
          value={failed.isRead ? countText(failed.deliveries.length, failed.isAll) : texts.none}
          state={DeliveryState.FAILED}
          isBad={failed.deliveries.length > 0}
        />
        <Figure
          name={texts.overview.waiting}
          value={retrying.isRead ? countText(waiting, retrying.isAll && pending.isAll) : texts.none}
          state={DeliveryState.RETRYING}
        />
      </dl>
    </Section>
  );
}

function Figure(props: { name: string; value: string; state: DeliveryState; isBad?: boolean }) {
  return (
    <div className={styles.figure}>
      <dt>{props.name}</dt>
      <dd className={props.isBad ? styles.bad : undefined}>
        <Link
          href={`/deliveries?state=${props.state}&span=day`}
          aria-label={`${props.name}: ${props.value}`}
        >
          {props.value}
        </Link>
      </dd>
    </div>
  );
}
