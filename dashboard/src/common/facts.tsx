import type { ReactNode } from "react";
import styles from "./facts.module.css";

/** A list of names with their values. `areShort`: the columns are narrow. */
export function Facts({
  facts,
  areShort = false,
}: {
  facts: readonly (readonly [name: string, value: ReactNode])[];
  areShort?: boolean;
}) {
  return (
    <dl className={areShort ? `${styles.facts} ${styles.short}` : styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
