import { useId } from "react";
import { texts } from "../texts.ts";
import styles from "./field.module.css";

/** The latest local time that can be entered: years have four digits. */
const LAST_TIME = "9999-12-31T23:59";

/**
 * A field of one line. `error` replaces the hint. `maxLength` counts characters as the server does, without spaces at
 * the ends. A longer value shows an error and is not cut, and its form can't be sent.
 */
export function TextField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  error?: string;
  type?: "text" | "url" | "datetime-local";
  maxLength?: number;
}) {
  const { label, value, onChange, hint, type = "text", maxLength = Infinity } = props;
  const { length } = [...value.trim()];
  const tooLong = length > maxLength ? texts.tooLong(length, maxLength) : undefined;
  const error = props.error ?? tooLong;
  const id = useId();
  const said = error ?? hint;
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <input
        ref={(input) => input?.setCustomValidity(tooLong ?? "")}
        id={id}
        className={styles.input}
        type={type}
        value={value}
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
