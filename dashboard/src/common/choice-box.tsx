import type { ReactNode } from "react";
import styles from "./field.module.css";

/** The browser's own radio button or checkbox, in a label that is large enough for fingers. */
export function ChoiceBox(props: {
  type: "radio" | "checkbox";
  name?: string;
  isChosen: boolean;
  onChange: (isChosen: boolean) => void;
  children: ReactNode;
}) {
  return (
    <label className={styles.choice}>
      <input
        type={props.type}
        name={props.name}
        checked={props.isChosen}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      <span>{props.children}</span>
    </label>
  );
}
