import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "wouter";
import { texts } from "../texts.ts";
import styles from "./page.module.css";

let isFirst = true;

/** A page: its title, introduction, actions and content. */
export function Page(props: {
  title: string;
  intro?: ReactNode;
  /** A text that may change, in place of the introduction. Screen readers read each change. */
  state?: ReactNode;
  actions?: ReactNode;
  /** The link to the list that the page belongs to. */
  back?: { readonly href: string; readonly text: string };
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} · ${texts.product}`;
  }, [props.title]);
  useEffect(() => {
    // Keyboard and screen reader users start at the title of a new page. On the first page, the browser sets the start.
    if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, []);
  return (
    <div className={styles.page}>
      {props.back && (
        <Link href={props.back.href} className={styles.back}>
          <span aria-hidden="true">← </span>
          {props.back.text}
        </Link>
      )}
      <header className={styles.header}>
        <div className={styles.words}>
          <h1 ref={heading} tabIndex={-1}>
            <bdi>{props.title}</bdi>
          </h1>
          {props.intro && <div className={styles.intro}>{props.intro}</div>}
          {"state" in props && (
            <div className={styles.intro} role="status">
              {props.state}
            </div>
          )}
        </div>
        {props.actions && <div className={styles.actions}>{props.actions}</div>}
      </header>
      {props.children}
    </div>
  );
}
