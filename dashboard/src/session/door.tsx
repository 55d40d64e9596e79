import { type ReactNode, useEffect, useRef } from "react";
import { texts } from "../texts.ts";
import styles from "./door.module.css";

/** The page for a reader without an open session: a title, the reason, and the next step. */
export function Door(props: {
  title: string;
  text?: string;
  isBusy?: boolean;
  children?: ReactNode;
}) {
  const { title, isBusy = false } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
    // Moves the focus to the title, so that screen readers say that a session has ended. A frame must not take the
    // focus from the page around it.
    if (isBusy || !document.hasFocus()) return;
    heading.current?.focus();
  }, [title, isBusy]);
  return (
    <main className={styles.door} aria-busy={isBusy}>
      <div className={styles.card}>
        <div className={styles.logo} aria-hidden="true" />
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {props.text && <p>{props.text}</p>}
        {props.children}
      </div>
    </main>
  );
}
