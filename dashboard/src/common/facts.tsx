import type { ReactNode } from "react";
import styles from "./facts.module.css";

/** What is known of one thing: names and values. */
export function Facts({
  facts,
}: {
  facts: readonly (readonly [name: string, value: ReactNode])[];
}) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
