import type { ReactNode } from "react";
import styles from "./door.module.css";

/** The page for a reader without an open session: a title, the reason, and the next step. */
export function Door(props: {
  title: string;
  text?: string;
  isBusy?: boolean;
  children?: ReactNode;
}) {
  return (
    <main className={styles.door} aria-busy={props.isBusy ?? false}>
      <div className={styles.card}>
        <div className={styles.logo} aria-hidden="true" />
        <h1>{props.title}</h1>
        {props.text && <p>{props.text}</p>}
        {props.children}
      </div>
    </main>
  );
}
