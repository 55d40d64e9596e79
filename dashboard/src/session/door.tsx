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
  const announced = useRef<string>(undefined);
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
    // Screen readers then say that a session has ended. A frame must not take the focus from the page around it.
    // During an outage the same title comes every few seconds. A removed button has left the focus nowhere.
    const isTold = announced.current === title && document.activeElement !== document.body;
    if (isBusy || isTold || !document.hasFocus()) return;
    announced.current = title;
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
