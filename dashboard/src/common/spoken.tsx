import type { ReactNode } from "react";
import styles from "./spoken.module.css";

/** What is read aloud, and not seen. */
export function Spoken({ children }: { children: ReactNode }) {
  return <span className={styles.spoken}>{children}</span>;
}
