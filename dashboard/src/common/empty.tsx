import styles from "./empty.module.css";

/** Takes the place of an empty list or page. */
export function Empty({ title, text }: { title: string; text: string }) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      <p>{text}</p>
    </div>
  );
}
