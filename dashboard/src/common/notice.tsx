import type { ReactNode } from "react";
import styles from "./notice.module.css";

/**
 * A coloured message. Screen readers interrupt for an `alert`. They read what changes in a `status` when they are idle.
 * Mount the `status` before its text: some screen readers ignore a `status` that appears with its text.
 */
export function Notice(props: {
  look: "good" | "bad" | "warn";
  role?: "alert";
  children: ReactNode;
}) {
  return (
    <div className={`${styles.notice} ${styles[props.look]}`} role={props.role}>
      {props.children}
    </div>
  );
}
