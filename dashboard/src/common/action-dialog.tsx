import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { createPortal } from "react-dom";
import styles from "./action-dialog.module.css";

type Content = {
  title: string;
  /** Keeps Escape from closing it, while it waits for or shows what cannot be shown again. */
  isKept?: boolean;
  onClosed?: () => void;
  children: (close: () => void) => ReactNode;
};

/** A dialog that a button opens, the browser's own: it keeps the focus inside and gives it back to the button. */
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
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-labelledby={titleId}
      // Without it a second Escape closes whatever onCancel says.
      {...{ closedby: isKept ? "none" : "closerequest" }}
      onCancel={(event) => isKept && event.preventDefault()}
      onClose={onClosed}
    >
      <div className={styles.content}>
        <h2 id={titleId} className={styles.title}>
          {title}
        </h2>
        {children(() => dialog.current?.close())}
      </div>
    </dialog>
  );
}
