import type { ReactNode } from "react";
import { texts } from "../texts.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { Button } from "./button.tsx";
import { DialogButtons } from "./dialog-buttons.tsx";
import { ErrorNotice } from "./error-notice.tsx";

/** Asks the owner to confirm an action. If the action fails, the dialog stays open and shows why. */
export function ConfirmDialog(props: {
  trigger: (open: () => void) => ReactNode;
  title: string;
  text: string;
  /** The object of the action, such as a key's name. */
  subject?: ReactNode;
  /** The label of the button that confirms. */
  action: string;
  onConfirm: () => Promise<unknown>;
  error: unknown;
  isPending: boolean;
  onClosed: () => void;
}) {
  return (
    <ActionDialog
      trigger={props.trigger}
      title={props.title}
      isKept={props.isPending}
      onClosed={props.onClosed}
    >
      {(close) => (
        <>
          {props.subject}
          <p>{props.text}</p>
          <ErrorNotice error={props.error} />
          <DialogButtons>
            <Button onClick={close} isPending={props.isPending}>
              {texts.cancel}
            </Button>
            <Button
              look="danger"
              isPending={props.isPending}
              onClick={() => props.onConfirm().then(close, () => undefined)}
            >
              {props.action}
            </Button>
          </DialogButtons>
        </>
      )}
    </ActionDialog>
  );
}
