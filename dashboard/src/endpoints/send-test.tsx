import { type Endpoint, EndpointService, WebhookEventKind } from "@activity/proto";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { CodeBlock } from "../common/code-block.tsx";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogForm } from "../common/dialog-form.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { KINDS } from "../common/kinds.ts";
import { SelectField } from "../common/select-field.tsx";
import { TextField } from "../common/text-field.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";
import { amountText, centsFromText } from "./min-amount.ts";
import { sampleEvent } from "./sample-event.ts";
import { WatchedTest } from "./watched-test.tsx";

const MAX_NAME_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 4_000;
const AMOUNT_CENTS = 500n;

/** Sends a test event to an endpoint and shows the outcome. */
export function SendTest({ endpoint }: { endpoint: Endpoint }) {
  return (
    <ActionDialog
      title={texts.endpoints.sendTestTitle}
      trigger={(open) => (
        <Button onClick={open} look="primary">
          {texts.endpoints.sendTest}
        </Button>
      )}
    >
      {(close) => <TestForm endpoint={endpoint} onClose={close} />}
    </ActionDialog>
  );
}

/** The form of a test: the kind of event, a sample of it, and the donation in it. */
function TestForm({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const { mutate, data, error, isPending } = useChange(EndpointService.method.sendTest);
  const [kind, setKind] = useState<WebhookEventKind>(
    endpoint.kinds[0] ?? WebhookEventKind.DONATION_CREATED,
  );
  const [amount, setAmount] = useState(amountText(AMOUNT_CENTS));
  const [donorName, setDonorName] = useState<string>(texts.endpoints.testDonor);
  const [message, setMessage] = useState<string>(texts.endpoints.testMessage);
  const amountCents = centsFromText(amount) || undefined;
  const hasSupporter =
    kind === WebhookEventKind.DONATION_CREATED || kind === WebhookEventKind.SUBSCRIPTION_CREATED;
  const send = () => {
    if (amountCents === undefined) return;
    const supporter = { donorName: donorName.trim(), message: message.trim() };
    mutate({ endpointId: endpoint.id, kind, amountCents, ...(hasSupporter && supporter) });
  };
  return (
    <DialogForm onSubmit={send}>
      <p>{texts.endpoints.sendTestText}</p>
      <SelectField
        label={texts.endpoints.kind}
        value={kind}
        choices={KINDS.map((each) => ({ value: each, text: texts.deliveries.kinds[each] ?? "" }))}
        onChange={setKind}
      />
      <p>{texts.endpoints.sentWhen[kind]}</p>
      <TextField
        label={texts.endpoints.testAmount}
        value={amount}
        onChange={setAmount}
        error={amountCents === undefined ? texts.endpoints.testAmountWrong : undefined}
      />
      {hasSupporter && (
        <>
          <TextField
            label={texts.endpoints.testDonorName}
            value={donorName}
            onChange={setDonorName}
            maxLength={MAX_NAME_LENGTH}
          />
          <TextField
            label={texts.endpoints.testMessageText}
            value={message}
            onChange={setMessage}
            maxLength={MAX_MESSAGE_LENGTH}
          />
        </>
      )}
      <CodeBlock
        label={texts.endpoints.sample}
        text={sampleEvent(kind, { amountCents: amountCents ?? 0n, donorName, message })}
        isJson
      />
      <ErrorNotice error={error} />
      <div role="status">
        {data && <WatchedTest key={data.deliveryId} deliveryId={data.deliveryId} />}
      </div>
      <DialogButtons>
        <Button onClick={onClose}>{texts.close}</Button>
        <Button look="primary" type="submit" isPending={isPending}>
          {texts.endpoints.send}
        </Button>
      </DialogButtons>
    </DialogForm>
  );
}
