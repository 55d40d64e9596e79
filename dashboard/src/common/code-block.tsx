import styles from "./code-block.module.css";
import { CopyButton } from "./copy-button.tsx";
import { visibleText } from "./visible-text.ts";

/** Code, or bytes that were sent or came back, with a button that copies `copied`, or what is shown. */
export function CodeBlock(props: { label: string; text: string; copied?: string }) {
  return (
    <figure className={styles.block}>
      <figcaption className={styles.head}>
        <span>{props.label}</span>
        <CopyButton text={props.copied ?? props.text} label={props.label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={styles.code} tabIndex={0}>
        <code>{visibleText(props.text)}</code>
      </pre>
    </figure>
  );
}
