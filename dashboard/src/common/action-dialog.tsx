import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import styles from "./action-dialog.module.css";
import { passFocus } from "./pass-focus.ts";

type Content = {
  title: string;
  /** Keeps the dialog open at Escape, because it waits for an answer or shows a secret once. */
  isKept?: boolean;
  onClosed?: () => void;
  children: (close: () => void) => ReactNode;
};

/**
 * A button and the dialog that it opens. The browser's own dialog keeps the focus inside, and then returns it to the
 * button. If both disappear while the dialog is open, the focus moves to the title of the page.
 */
export function ActionDialog(props: Content & { trigger: (open: () => void) => ReactNode }) {
  const [isOpen, setIsOpen] = useState(false);
  const { trigger, onClosed, ...content } = props;
  const closed = () => {
    setIsOpen(false);
    onClosed?.();
  };
  return (
    <>
      {trigger(() => setIsOpen(true))}
      {isOpen && createPortal(<OpenDialog {...content} onClosed={closed} />, document.body)}
    </>
  );
}

function OpenDialog({ title, isKept = false, onClosed, children }: Content) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isDone = useRef(false);
  const titleId = useId();
  useEffect(() => {
    dialog.current?.showModal();
    // On a radio button, and on macOS on a select, Enter submits the form. If Enter is pressed twice to open the
    // dialog, the second press would confirm what nobody has read. So the focus moves to the title.
    const { activeElement } = document;
    if (activeElement?.matches("form :is([type=radio], select)")) passFocus(activeElement);
  }, []);
  useLayoutEffect(() => {
    const { current } = dialog;
    return () => {
      if (!current?.open) return;
      // Closes the dialog first, because the page cannot get the focus while it is open.
      current.close();
      // If the reader is typing in a page that embeds the dashboard, the focus stays there.
      if (document.hasFocus()) document.querySelector<HTMLElement>("main h1")?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-labelledby={titleId}
      // Without this, a second Escape closes the dialog even if onCancel prevents it.
      {...{ closedby: isKept ? "none" : "closerequest" }}
      onCancel={(event) => isKept && event.preventDefault()}
      // Chrome before 134 ignores `closedby` and closes the dialog, so it is opened again.
      onClose={() => (isKept && !isDone.current ? dialog.current?.showModal() : onClosed?.())}
    >
      <div className={styles.content}>
        <h2 id={titleId} className={styles.title}>
          {title}
        </h2>
        {children(() => {
          isDone.current = true;
          dialog.current?.close();
        })}
      </div>
    </dialog>
  );
}
