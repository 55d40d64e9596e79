import styles from "./aside.module.css";

/** A detail, in a muted colour. */
export function Aside({ text }: { text: string | undefined }) {
  return text ? <span className={styles.aside}>{text}</span> : null;
}
