import styles from "./badge.module.css";

export type BadgeLook = "good" | "bad" | "warn" | "plain";

/** A word for a state; `hint` says on hover what it means. */
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
