import styles from "./badge.module.css";

export type BadgeLook = "good" | "bad" | "warn" | "plain";

/** A state in one word. On hover, it shows its meaning, `hint`. */
export function Badge({
  look,
  text,
  hint,
}: {
  look: BadgeLook;
  text: string | undefined;
  hint?: string;
}) {
  return (
    <span className={`${styles.badge} ${styles[look]}`} title={hint}>
      {text}
    </span>
  );
}
