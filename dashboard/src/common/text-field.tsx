import { useId } from "react";
import styles from "./field.module.css";

/** The latest time that the server accepts: years have four digits. */
const LAST_TIME = "9999-12-31T23:59";

/** A field of one line. `error` replaces the hint. */
export function TextField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  error?: string;
  type?: "text" | "url" | "datetime-local";
  maxLength?: number;
}) {
  const { label, value, onChange, hint, error, type = "text", maxLength } = props;
  const id = useId();
  const said = error ?? hint;
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className={styles.input}
        type={type}
        value={value}
        maxLength={maxLength}
        max={type === "datetime-local" ? LAST_TIME : undefined}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        aria-invalid={error !== undefined}
        aria-describedby={said ? `${id}-said` : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {said && (
        <span id={`${id}-said`} className={error ? styles.error : styles.hint} aria-live="polite">
          {said}
        </span>
      )}
    </div>
  );
}
