import type { ReactNode } from "react";
import styles from "./dialog-form.module.css";

/** A form whose fields show their own errors. The browser shows none. */
export function DialogForm({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      className={styles.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

/** Fields that can be disabled together. */
export function DialogFields(props: { isDisabled: boolean; children: ReactNode }) {
  return (
    <fieldset className={`${styles.form} ${styles.fields}`} disabled={props.isDisabled}>
      {props.children}
    </fieldset>
  );
}
