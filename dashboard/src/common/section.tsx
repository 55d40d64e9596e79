import type { ReactNode } from "react";
import styles from "./section.module.css";

/** A part of a page, with its own heading. */
export function Section(props: {
  title: string;
  hint?: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className={styles.section}>
      <div className={styles.head}>
        <div>
          <h2>{props.title}</h2>
          {props.hint && <p className={styles.hint}>{props.hint}</p>}
        </div>
        {props.aside}
      </div>
      {props.children}
    </section>
  );
}
