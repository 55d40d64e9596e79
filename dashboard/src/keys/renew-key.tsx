import { type ApiKey, ApiKeyService } from "@activity/proto";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogForm } from "../common/dialog-form.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { UntrustedText } from "../common/untrusted-text.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";
import { USUAL_VALIDITY, ValidityField } from "./validity-field.tsx";

/** Gives a key a new end. */
export function RenewKey({ apiKey }: { apiKey: ApiKey }) {
  const [validityDays, setValidityDays] = useState(USUAL_VALIDITY);
  const { mutateAsync, error, isPending, reset } = useChange(ApiKeyService.method.renewApiKey);
  return (
    <ActionDialog
      title={texts.keys.renewTitle}
      onClosed={reset}
      trigger={(open) => (
        <Button onClick={open} look="quiet" aria-label={`${texts.keys.renew}: ${apiKey.name}`}>
          {texts.keys.renew}
        </Button>
      )}
    >
      {(close) => (
        <DialogForm
          onSubmit={() =>
            void mutateAsync({ apiKeyId: apiKey.id, validityDays }).then(close, () => undefined)
          }
        >
          <strong>
            <UntrustedText text={apiKey.name} />
          </strong>
          <p>{texts.keys.renewText}</p>
          <ValidityField days={validityDays} onChange={setValidityDays} />
          <ErrorNotice error={error} />
          <DialogButtons>
            <Button onClick={close}>{texts.cancel}</Button>
            <Button look="primary" type="submit" isPending={isPending}>
              {texts.keys.renew}
            </Button>
          </DialogButtons>
        </DialogForm>
      )}
    </ActionDialog>
  );
}
