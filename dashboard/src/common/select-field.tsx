import { useId } from "react";
import styles from "./field.module.css";

/** A choice of one option from the browser's own list, which phones show best. */
export function SelectField<Value extends string | number>(props: {
  label: string;
  value: Value;
  choices: readonly { readonly value: Value; readonly text: string }[];
  onChange: (value: Value) => void;
}) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {props.label}
      </label>
      <select
        id={id}
        className={styles.input}
        value={props.value}
        onChange={(event) => {
          const chosen = props.choices[event.target.selectedIndex];
          if (chosen !== undefined) props.onChange(chosen.value);
        }}
      >
        {props.choices.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
