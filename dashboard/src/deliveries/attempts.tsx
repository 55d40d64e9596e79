import type { Attempt, Delivery } from "@activity/proto";
import { Section } from "../common/section.tsx";
import { texts } from "../texts.ts";
import { AttemptCard } from "./attempt-card.tsx";
import styles from "./attempts.module.css";
import { isOnItsWay } from "./shown-delivery.ts";

/** The maximum number of attempts that the server returns with a delivery. */
const MAX_READ = 200;

/** All attempts of a delivery, newest first, grouped by run. */
export function Attempts(props: {
  delivery: Delivery;
  attempts: readonly Attempt[];
  /** Whether the delivery's endpoint is off. */
  isPaused: boolean;
}) {
  const { delivery, attempts, isPaused } = props;
  const runs = Map.groupBy(attempts.toReversed(), ({ run }) => run);
  return (
    <Section
      title={texts.deliveries.attemptsTitle}
      hint={attempts.length >= MAX_READ ? texts.deliveries.newest : undefined}
    >
      {attempts.length === 0 && <p>{texts.deliveries.noAttempts}</p>}
      {[...runs].map(([run, made]) => (
        <div key={run} className={styles.run}>
          {delivery.run > 1 && <h3>{texts.deliveries.run(run)}</h3>}
          <ol className={styles.list}>
            {made.map((attempt) => (
              <li key={attempt.attempt}>
                <AttemptCard
                  attempt={attempt}
                  eventId={delivery.eventId}
                  isRetried={
                    !isPaused &&
                    isOnItsWay(delivery) &&
                    run === delivery.run &&
                    attempt.attempt === delivery.attempts
                  }
                />
              </li>
            ))}
          </ol>
        </div>
      ))}
    </Section>
  );
}
