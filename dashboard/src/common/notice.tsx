import type { ReactNode } from "react";
import styles from "./notice.module.css";

/** A few words with a colour of their own. `status` is read aloud when it appears, `alert` at once. */
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
