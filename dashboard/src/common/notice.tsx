import type { ReactNode } from "react";
import styles from "./notice.module.css";

/**
 * A coloured message. Screen readers interrupt for an `alert`. In a `status` they read it when they are idle, if the
 * `status` was there before: some read only what changes in it.
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
