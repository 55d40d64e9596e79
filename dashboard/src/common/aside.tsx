import styles from "./aside.module.css";

/** What is said in passing. */
export function Aside({ text }: { text: string | undefined }) {
  return text ? <span className={styles.aside}>{text}</span> : null;
}
