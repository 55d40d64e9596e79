import { DeliveryService } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { DAY_MS, nowMs } from "../common/clock.ts";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogForm } from "../common/dialog-form.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { localFromMs, timestampFromLocal } from "../common/local-time.ts";
import { Notice } from "../common/notice.tsx";
import { SelectField } from "../common/select-field.tsx";
import { TextField } from "../common/text-field.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";
import { useEndpointChoices } from "./use-endpoints.ts";

/** Retries what failed to an endpoint since a time. */
export function RetryFailed({ endpointId }: { endpointId: string }) {
  const endpoints = useEndpointChoices();
  const [chosen, setChosen] = useState<string>();
  const [since, setSince] = useState(() => localFromMs(nowMs() - DAY_MS));
  const { mutate, data, error, isPending, reset } = useChange(
    DeliveryService.method.retryFailedDeliveries,
  );
  const selected = chosen ?? (endpointId || (endpoints[0]?.value ?? ""));
  const from = timestampFromLocal(since);
  if (endpoints.length === 0) return null;
  return (
    <ActionDialog
      title={texts.deliveries.retryFailedTitle}
      onClosed={reset}
      trigger={(open) => <Button onClick={open}>{texts.deliveries.retryFailed}</Button>}
    >
      {(close) => (
        <DialogForm
          onSubmit={() =>
            from && mutate({ endpointId: selected, since: from, until: timestampFromMs(nowMs()) })
          }
        >
          <p>{texts.deliveries.retryFailedText}</p>
          <SelectField
            label={texts.deliveries.endpoint}
            value={selected}
            choices={endpoints}
            onChange={setChosen}
          />
          <TextField
            label={texts.deliveries.retryFailedSince}
            type="datetime-local"
            value={since}
            onChange={setSince}
          />
          <ErrorNotice error={error} />
          {data && (
            <Notice look="good" role="status">
              {texts.deliveries.retriedCount(Number(data.retried))}
            </Notice>
          )}
          <DialogButtons>
            <Button onClick={close}>{texts.close}</Button>
            <Button look="primary" type="submit" isDisabled={!from} isPending={isPending}>
              {texts.deliveries.retryFailed}
            </Button>
          </DialogButtons>
        </DialogForm>
      )}
    </ActionDialog>
  );
}
