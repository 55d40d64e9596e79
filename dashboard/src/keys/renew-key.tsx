import { type ApiKey, ApiKeyService } from "@activity/proto";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { DAY_MS, nowMs } from "../common/clock.ts";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogForm } from "../common/dialog-form.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { Notice } from "../common/notice.tsx";
import { Time } from "../common/time.tsx";
import { UntrustedText } from "../common/untrusted-text.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";
import { LONGEST_VALIDITY, ValidityField } from "./validity-field.tsx";

/** Gives a key a new end. The longest validity is preselected. */
export function RenewKey({ apiKey }: { apiKey: ApiKey }) {
  const [validityDays, setValidityDays] = useState(LONGEST_VALIDITY);
  const { mutateAsync, error, isPending, reset } = useChange(ApiKeyService.method.renewApiKey);
  return (
    <ActionDialog
      title={texts.keys.renewTitle}
      isKept={isPending}
      onClosed={() => {
        setValidityDays(LONGEST_VALIDITY);
        reset();
      }}
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
          <NewEnd apiKey={apiKey} validityDays={validityDays} />
          <ErrorNotice error={error} />
          <DialogButtons>
            <Button onClick={close} isPending={isPending}>
              {texts.cancel}
            </Button>
            <Button look="primary" type="submit" isPending={isPending}>
              {texts.keys.renew}
            </Button>
          </DialogButtons>
        </DialogForm>
      )}
    </ActionDialog>
  );
}

/**
 * The new end of the key, with a warning if it is earlier than the old one. It does not move with the clock, because a
 * screen reader would read it every minute.
 */
function NewEnd({ apiKey, validityDays }: { apiKey: ApiKey; validityDays: number }) {
  const [openedMs] = useState(nowMs);
  const endMs = openedMs + validityDays * DAY_MS;
  const isEarlier = apiKey.expiresAt !== undefined && endMs < timestampMs(apiKey.expiresAt);
  return (
    <div role="status">
      <Notice look={isEarlier ? "warn" : "good"}>
        <span>
          {texts.keys.newEnd} <Time at={timestampFromMs(endMs)} />
        </span>
        {isEarlier && (
          <span>
            {texts.keys.earlierEnd} <Time at={apiKey.expiresAt} />
          </span>
        )}
      </Notice>
    </div>
  );
}
