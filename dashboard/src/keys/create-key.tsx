import { ApiKeyService } from "@activity/proto";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { CodeBlock } from "../common/code-block.tsx";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogForm } from "../common/dialog-form.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { SecretShown } from "../common/secret-shown.tsx";
import { TextField } from "../common/text-field.tsx";
import { useChange } from "../common/use-change.ts";
import { useHold } from "../common/use-hold.ts";
import { useSession } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { USUAL_VALIDITY, ValidityField } from "./validity-field.tsx";

const NAME_MAX = 100;

/** Creates an API key and shows it once. */
export function CreateKey({ isDisabled }: { isDisabled: boolean }) {
  const create = useChange(ApiKeyService.method.createApiKey);
  const { data, error, isPending, reset } = create;
  useHold(isPending);
  return (
    <ActionDialog
      title={data ? texts.keys.createdTitle : texts.keys.create}
      isKept={isPending || data !== undefined}
      onClosed={reset}
      trigger={(open) => (
        <Button onClick={open} look="primary" isPending={isDisabled}>
          {texts.keys.create}
        </Button>
      )}
    >
      {(close) =>
        data ? (
          <CreatedKey secret={data.secret} onDone={close} />
        ) : (
          <KeyForm
            error={error}
            isPending={isPending}
            onCancel={close}
            onSubmit={(name, validityDays) => create.mutate({ name, validityDays })}
          />
        )
      }
    </ActionDialog>
  );
}

function KeyForm(props: {
  error: unknown;
  isPending: boolean;
  onCancel: () => void;
  onSubmit: (name: string, validityDays: number) => void;
}) {
  const [name, setName] = useState("");
  const [days, setDays] = useState(USUAL_VALIDITY);
  const [isTried, setIsTried] = useState(false);
  const isMissing = name.trim() === "";
  const submit = () => {
    setIsTried(true);
    if (!isMissing) props.onSubmit(name.trim(), days);
  };
  return (
    <DialogForm onSubmit={submit}>
      <TextField
        label={texts.keys.name}
        hint={texts.keys.nameHint}
        value={name}
        onChange={setName}
        error={isTried && isMissing ? texts.keys.nameMissing : undefined}
        maxLength={NAME_MAX}
      />
      <ValidityField days={days} onChange={setDays} />
      <ErrorNotice error={props.error} />
      <DialogButtons>
        <Button onClick={props.onCancel} isPending={props.isPending}>
          {texts.cancel}
        </Button>
        <Button look="primary" type="submit" isPending={props.isPending}>
          {texts.keys.create}
        </Button>
      </DialogButtons>
    </DialogForm>
  );
}

function CreatedKey({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { apiUrl } = useSession().session;
  return (
    <>
      <SecretShown label={texts.keys.secret} secret={secret} />
      <CodeBlock label={texts.keys.tryIt} text={texts.keys.curl(apiUrl)} />
      {apiUrl === "" && <p>{texts.keys.curlBaseUrl}</p>}
      <p>{texts.keys.curlHint}</p>
      <DialogButtons>
        <Button look="primary" onClick={onDone}>
          {texts.saved}
        </Button>
      </DialogButtons>
    </>
  );
}
