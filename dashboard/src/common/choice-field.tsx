import { useId } from "react";
import { ChoiceBox } from "./choice-box.tsx";
import styles from "./field.module.css";

/** A choice of one option, or of several. All options are visible. */
export function ChoiceField(props: {
  label: string;
  type: "radio" | "checkbox";
  choices: readonly { readonly value: string; readonly text: string }[];
  chosen: readonly string[];
  onChange: (value: string, isChosen: boolean) => void;
  hint?: string;
  error?: string;
}) {
  const id = useId();
  const said = props.error ?? props.hint;
  return (
    <fieldset className={styles.field} aria-describedby={said ? `${id}-said` : undefined}>
      <legend className={styles.label}>{props.label}</legend>
      <div className={styles.choices}>
        {props.choices.map(({ value, text }) => (
          <ChoiceBox
            key={value}
            type={props.type}
            name={id}
            isChosen={props.chosen.includes(value)}
            onChange={(isChosen) => props.onChange(value, isChosen)}
          >
            {text}
          </ChoiceBox>
        ))}
      </div>
      {said && (
        <span
          id={`${id}-said`}
          className={props.error ? styles.error : styles.hint}
          aria-live="polite"
        >
          {said}
        </span>
      )}
    </fieldset>
  );
}
