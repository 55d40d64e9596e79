import { SessionScope } from "@activity/proto";
import { Link } from "wouter";
import { localFromMs } from "../common/local-time.ts";
import { useMay } from "../session/session-context.ts";
import { LOCALE, texts } from "../texts.ts";
import { CLASSES, type Counts, countOf, HOUR_MS, type Span } from "./hours.ts";
import styles from "./stats-chart.module.css";

const HOURS = new Intl.DateTimeFormat(LOCALE, { timeStyle: "short" });
const DAYS = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
/** If there are more bars than this, only every sixth shows its time. */
const FEW = 7;
const BARS_A_TIME = 6;

/**
 * A chart of attempts: one bar for each span, newest first, divided by class. On hover or focus, a bar shows its
 * numbers. A click opens the deliveries of its span.
 */
export function StatsChart(props: {
  endpointId: string;
  spans: readonly Span[];
  spanMs: number;
  total: Counts;
  label: string;
}) {
  const { endpointId, spans, spanMs, total } = props;
  const mayRead = useMay(SessionScope.DELIVERIES_READ);
  const most = Math.max(1, ...spans.map(countOf));
  /** A day's bar has the date of its end, so that the newest one is today's. */
  const timeOf = (span: Span) =>
    spanMs > HOUR_MS ? DAYS.format(span.beginMs + spanMs - 1) : HOURS.format(span.beginMs);
  const bars = spans.map((span, index) => {
    const stack = CLASSES.filter((name) => span[name] > 0).map((name) => (
      <span
        key={name}
        className={styles[name]}
        style={{ height: `${(100 * span[name]) / most}%` }}
      />
    ));
    const numbers = (
      <span className={styles.numbers}>
        {timeOf(span)} · {countsText(span)}
      </span>
    );
    return (
      <li key={span.beginMs} className={styles.span}>
        {stack.length === 0 ? (
          <span className={styles.bar} />
        ) : mayRead ? (
          <Link className={styles.bar} href={deliveriesOf(endpointId, span.beginMs, spanMs)}>
            {stack}
            {numbers}
          </Link>
        ) : (
          <span className={styles.bar}>
            {stack}
            {numbers}
          </span>
        )}
        <span className={styles.time} aria-hidden="true">
          {(spans.length <= FEW || index % BARS_A_TIME === 0) && timeOf(span)}
        </span>
      </li>
    );
  });
  return (
    <figure className={styles.figure} aria-label={props.label}>
      <div className={styles.most} aria-hidden="true">
        {most.toLocaleString(LOCALE)}
      </div>
      <ol className={styles.spans}>{bars.reverse()}</ol>
      <figcaption className={styles.legend}>
        {CLASSES.filter((name) => total[name] > 0).map((name) => (
          <span key={name}>
            <span className={`${styles.mark} ${styles[name]}`} />
            {texts.endpoints.classes[name]} {total[name].toLocaleString(LOCALE)}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function countsText(counts: Counts): string {
  return CLASSES.filter((name) => counts[name] > 0)
    .map((name) => `${texts.endpoints.classes[name]} ${counts[name].toLocaleString(LOCALE)}`)
    .join(" · ");
}

function deliveriesOf(endpoint: string, beginMs: number, spanMs: number): string {
  const times = { since: localFromMs(beginMs), until: localFromMs(beginMs + spanMs) };
  return `/deliveries?${new URLSearchParams({ endpoint, span: "custom", ...times })}`;
}
