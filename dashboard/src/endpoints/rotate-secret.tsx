import { type Endpoint, EndpointService } from "@activity/proto";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { nowMs } from "../common/clock.ts";
import { CodeBlock } from "../common/code-block.tsx";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogForm } from "../common/dialog-form.tsx";
import { AnswerLostError } from "../common/error-code.ts";
import { ErrorNotice } from "../common/error-notice.tsx";
import { Notice } from "../common/notice.tsx";
import { RadioField } from "../common/radio-field.tsx";
import { SecretShown } from "../common/secret-shown.tsx";
import { Time } from "../common/time.tsx";
import { useChange } from "../common/use-change.ts";
import { useHold } from "../common/use-hold.ts";
import { texts } from "../texts.ts";
import bothSecrets from "./both-secrets.txt?raw";
import { HOUR_MS } from "./hours.ts";

/** The choices for the start of the new secret, in hours from now. 0: at once. */
const HOURS = [1, 6, 23, 0];
const USUAL_HOURS = 1;

/** Rotates the signing secret, at once or later, and shows the new one once. */
export function RotateSecret({ endpoint }: { endpoint: Endpoint }) {
  const [hours, setHours] = useState(USUAL_HOURS);
  const { mutate, data, error, isPending, reset, variables } = useChange(
    EndpointService.method.rotateSecret,
  );
  // After the lost answer of an immediate rotation, no page can show whether the rotation was made.
  const isLostAtOnce = error instanceof AnswerLostError && variables?.signsFrom === undefined;
  useHold(isPending);
  const rotate = () => {
    const signsFrom = hours === 0 ? {} : { signsFrom: timestampFromMs(nowMs() + hours * HOUR_MS) };
    mutate({ endpointId: endpoint.id, ...signsFrom });
  };
  return (
    <ActionDialog
      title={data ? texts.endpoints.rotatedTitle : texts.endpoints.rotateTitle}
      isKept={isPending || data !== undefined}
      onClosed={() => {
        setHours(USUAL_HOURS);
        reset();
      }}
      trigger={(open) => <Button onClick={open}>{texts.endpoints.rotate}</Button>}
    >
      {(close) =>
        data ? (
          <RotatedSecret
            secret={data.secret}
            signsFrom={data.endpoint?.nextSecretSignsFrom}
            onDone={close}
          />
        ) : (
          <DialogForm onSubmit={rotate}>
            <p>{texts.endpoints.rotateText}</p>
            <RadioField
              label={texts.endpoints.rotateWhen}
              value={String(hours)}
              choices={HOURS.map((each) => ({
                value: String(each),
                text: texts.endpoints.rotateIn(each),
              }))}
              onChange={(value) => setHours(Number(value))}
            />
            {isLostAtOnce ? (
              <Notice look="bad" role="alert">
                {texts.endpoints.rotateAgain}
              </Notice>
            ) : (
              <ErrorNotice error={error} />
            )}
            <DialogButtons>
              <Button onClick={close} isPending={isPending}>
                {texts.cancel}
              </Button>
              <Button look="primary" type="submit" isPending={isPending}>
                {texts.endpoints.rotate}
              </Button>
            </DialogButtons>
          </DialogForm>
        )
      }
    </ActionDialog>
  );
}

/** Shows the new secret, and receiver code that accepts the old and the new one. */
function RotatedSecret(props: {
  secret: string;
  signsFrom: Timestamp | undefined;
  onDone: () => void;
}) {
  return (
    <>
      <SecretShown label={texts.endpoints.secret} secret={props.secret} />
      <p>{texts.endpoints.rotatedHint}</p>
      <CodeBlock label={texts.endpoints.bothSecrets} text={bothSecrets} />
      <p>
        {texts.endpoints.rotatedUntil} <Time at={props.signsFrom} instead={texts.endpoints.now} />.
      </p>
      <DialogButtons>
        <Button look="primary" onClick={props.onDone}>
          {texts.saved}
        </Button>
      </DialogButtons>
    </>
  );
}
