import { type ReactNode, useLayoutEffect, useRef } from "react";
import styles from "./dialog-form.module.css";
import { passFocus } from "./pass-focus.ts";

/**
 * A form whose fields show their own errors. The browser shows only two errors: a text that is too long, and an
 * incomplete input, whose value is empty. When the form disappears, its focus moves on to the title.
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

/** Fields that can be disabled together. Enter in a field may disable it: then its focus moves on to the title. */
export function DialogFields(props: { isDisabled: boolean; children: ReactNode }) {
  const { isDisabled } = props;
  const fields = useRef<HTMLFieldSetElement>(null);
  useLayoutEffect(() => {
    const { current } = fields;
    if (!isDisabled || !current) return;
    const { activeElement, body } = document;
    // Chromium has moved the focus to the body already. Other browsers do so later.
    if (activeElement === body || current.contains(activeElement)) {
      passFocus(current, { preventScroll: true });
    }
  }, [isDisabled]);
  return (
    <fieldset ref={fields} className={`${styles.form} ${styles.fields}`} disabled={isDisabled}>
      {props.children}
    </fieldset>
  );
}
