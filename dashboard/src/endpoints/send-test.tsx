import { type Endpoint, EndpointService, WebhookEventKind } from "@activity/proto";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogForm } from "../common/dialog-form.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { KINDS } from "../common/kinds.ts";
import { SelectField } from "../common/select-field.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";
import { WatchedTest } from "./watched-test.tsx";

/** Sends an endpoint a test event and shows how it arrives. */
export function SendTest({ endpoint }: { endpoint: Endpoint }) {
  const [kind, setKind] = useState<WebhookEventKind>(
    endpoint.kinds[0] ?? WebhookEventKind.DONATION_CREATED,
  );
  const { mutate, data, error, isPending, reset } = useChange(EndpointService.method.sendTest);
  return (
    <ActionDialog
      title={texts.endpoints.sendTestTitle}
      onClosed={reset}
      trigger={(open) => (
        <Button onClick={open} look="primary">
          {texts.endpoints.sendTest}
        </Button>
      )}
    >
      {(close) => (
        <DialogForm onSubmit={() => mutate({ endpointId: endpoint.id, kind })}>
          <p>{texts.endpoints.sendTestText}</p>
          <SelectField
            label={texts.endpoints.kind}
            value={kind}
            choices={KINDS.map((each) => ({
              value: each,
              text: texts.deliveries.kinds[each] ?? "",
            }))}
            onChange={setKind}
          />
          <ErrorNotice error={error} />
          {data && <WatchedTest key={data.deliveryId} deliveryId={data.deliveryId} />}
          <DialogButtons>
            <Button onClick={close}>{texts.close}</Button>
            <Button look="primary" type="submit" isPending={isPending}>
              {texts.endpoints.send}
            </Button>
          </DialogButtons>
        </DialogForm>
      )}
    </ActionDialog>
  );
}
