import { type ReactNode, useLayoutEffect, useRef } from "react";
import styles from "./dialog-form.module.css";
import { passFocus } from "./pass-focus.ts";

/**
 * A form whose fields show their own errors. The browser shows only two: a text is too long, or an incomplete input has
 * an empty value. When the form disappears, its focus moves on to the title.
 */
export function DialogForm({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    const { current } = form;
    return () => {
      if (current?.contains(document.activeElement)) passFocus(current);
    };
  }, []);
  return (
    <form
      ref={form}
      className={styles.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const wrong = [...event.currentTarget.elements].find(
          (field) =>
            field instanceof HTMLInputElement &&
            (field.validity.badInput || field.validity.customError),
        );
        if (wrong instanceof HTMLInputElement) wrong.reportValidity();
        else onSubmit();
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
