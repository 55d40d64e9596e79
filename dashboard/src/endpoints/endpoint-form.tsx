import type { WebhookEventKind } from "@activity/proto";
import { useState } from "react";
import { Button } from "../common/button.tsx";
import { ChoiceBox } from "../common/choice-box.tsx";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogForm } from "../common/dialog-form.tsx";
import { errorCode } from "../common/error-code.ts";
import { ErrorNotice } from "../common/error-notice.tsx";
import { TextField } from "../common/text-field.tsx";
import { texts } from "../texts.ts";
import { KindsField } from "./kinds-field.tsx";
import { amountText, centsFromText } from "./min-amount.ts";
import { urlProblem } from "./url-rules.ts";

const MAX_NAME_LENGTH = 64;

/** The values that the owner enters. */
export type EndpointInput = {
  readonly name: string;
  readonly url: string;
  readonly kinds: readonly WebhookEventKind[];
  readonly standardWebhooks: boolean;
  readonly minAmountCents: bigint;
};

/**
 * The fields of an endpoint. The live check of the URL only warns: the server decides. When the server refuses the
 * input, the URL must be wrong, because the form checks the other fields. It shows this until the owner edits the URL.
 */
export function EndpointForm(props: {
  initial: EndpointInput;
  action: string;
  error: unknown;
  isPending: boolean;
  onCancel: () => void;
  onSubmit: (input: EndpointInput) => void;
}) {
  const [name, setName] = useState(props.initial.name);
  const [url, setUrl] = useState(props.initial.url);
  const [kinds, setKinds] = useState(props.initial.kinds);
  const [standardWebhooks, setStandardWebhooks] = useState(props.initial.standardWebhooks);
  const [amount, setAmount] = useState(amountText(props.initial.minAmountCents));
  const [isTried, setIsTried] = useState(false);
  const [sentUrl, setSentUrl] = useState<string>();
  const isRefused = errorCode(props.error) === "invalid_parameter";
  // The server accepted the stored URL, so only an edited one can be wrong.
  const isEdited = url !== props.initial.url;
  const problem =
    urlProblem(url.trim()) ?? (isRefused && url === sentUrl ? texts.urlRules.refused : undefined);
  const minAmountCents = centsFromText(amount);
  const submit = () => {
    setIsTried(true);
    if (url.trim() === "" || kinds.length === 0 || minAmountCents === undefined) return;
    setSentUrl(url);
    props.onSubmit({ name: name.trim(), url: url.trim(), kinds, standardWebhooks, minAmountCents });
  };
  return (
    <DialogForm onSubmit={submit}>
      <TextField
        label={texts.endpoints.url}
        type="url"
        value={url}
        onChange={setUrl}
        hint={problem === undefined ? texts.endpoints.urlGood : texts.endpoints.urlHint}
        error={isEdited || isRefused || (isTried && url === "") ? problem : undefined}
      />
      <TextField
        label={texts.endpoints.name}
        value={name}
        onChange={setName}
        hint={texts.endpoints.nameHint}
        maxLength={MAX_NAME_LENGTH}
      />
      <KindsField
        kinds={kinds}
        onChange={setKinds}
        error={isTried && kinds.length === 0 ? texts.endpoints.kindsMissing : undefined}
      />
      <TextField
        label={texts.endpoints.minAmount}
        value={amount}
        onChange={setAmount}
        hint={texts.endpoints.minAmountHint}
        error={minAmountCents === undefined ? texts.endpoints.minAmountWrong : undefined}
      />
      <ChoiceBox type="checkbox" isChosen={standardWebhooks} onChange={setStandardWebhooks}>
        {texts.endpoints.standardWebhooks}
      </ChoiceBox>
      <ErrorNotice error={!isRefused && props.error} />
      <DialogButtons>
        <Button onClick={props.onCancel} isPending={props.isPending}>
          {texts.cancel}
        </Button>
        <Button look="primary" type="submit" isPending={props.isPending}>
          {props.action}
        </Button>
      </DialogButtons>
    </DialogForm>
  );
}
