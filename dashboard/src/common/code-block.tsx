import type { ReactNode } from "react";
import styles from "./code-block.module.css";
import { CopyButton } from "./copy-button.tsx";
import { visibleText } from "./visible-text.ts";

/** Matches a string, with the colon after a field's name. Also matches a literal or a number. */
const JSON_PART = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g;

/** A block of code, or of bytes that were sent or received. Its button copies `copied`, by default `text`. */
export function CodeBlock(props: {
  label: string;
  text: string;
  copied?: string;
  isJson?: boolean;
  /** Makes the block low: readers copy its text and rarely read it. */
  isShort?: boolean;
}) {
  const text = visibleText(props.text);
  return (
    <figure className={styles.block}>
      <figcaption className={styles.head}>
        <span>{props.label}</span>
        <CopyButton text={props.copied ?? props.text} label={props.label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it */}
      <pre className={`${styles.code} ${props.isShort ? styles.short : ""}`} tabIndex={0}>
        <code>{props.isJson ? coloured(text) : text}</code>
      </pre>
    </figure>
  );
}

function coloured(json: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { 0: part, 1: string, 2: colon, index } of json.matchAll(JSON_PART)) {
    const look = colon ? styles.name : string ? styles.string : styles.value;
    parts.push(
      json.slice(end, index),
      <span key={index} className={look}>
        {string ?? part}
      </span>,
      colon,
    );
    end = index + part.length;
  }
  return [...parts, json.slice(end)];
}
