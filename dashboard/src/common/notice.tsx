import type { ReactNode } from "react";
import styles from "./notice.module.css";

/** A coloured message. Screen readers interrupt for an `alert`. They read a `status` when they are idle. */
export function Notice(props: {
  look: "good" | "bad" | "warn";
  role?: "status" | "alert";
  children: ReactNode;
}) {
  return (
    <div className={`${styles.notice} ${styles[props.look]}`} role={props.role}>
      {props.children}
    </div>
  );
}
