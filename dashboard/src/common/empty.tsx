import styles from "./empty.module.css";

/** Stands where a list would be. */
export function Empty({ title, text }: { title: string; text: string }) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      <p>{text}</p>
    </div>
  );
}
