import { type Endpoint, EndpointService } from "@activity/proto";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";
import { EndpointForm, type EndpointInput } from "./endpoint-form.tsx";

/** Edits the settings of an endpoint. */
export function EditEndpoint({ endpoint }: { endpoint: Endpoint }) {
  // The endpoint as it was when the dialog opened: another person may change it meanwhile.
  const [opened, setOpened] = useState(endpoint);
  const { mutateAsync, error, isPending, reset } = useChange(EndpointService.method.updateEndpoint);
  return (
    <ActionDialog
      title={texts.endpoints.editTitle}
      isKept={isPending}
      onClosed={reset}
      trigger={(open) => (
        <Button
          onClick={() => {
            setOpened(endpoint);
            open();
          }}
        >
          {texts.endpoints.edit}
        </Button>
      )}
    >
      {(close) => (
        <EndpointForm
          initial={opened}
          action={texts.save}
          error={error}
          isPending={isPending}
          onCancel={close}
          onSubmit={(input) =>
            void mutateAsync({
              endpointId: endpoint.id,
              ...changedFields(opened, input),
            }).then(close, () => undefined)
          }
        />
      )}
    </ActionDialog>
  );
}

/** Returns the fields that the owner changed. Other fields keep the values that another person may have set. */
function changedFields(before: EndpointInput, { kinds, ...input }: EndpointInput) {
  const isSame =
    kinds.length === before.kinds.length && kinds.every((kind) => before.kinds.includes(kind));
  const names = Object.keys(input) as (keyof typeof input)[]; // Its keys are the names of the fields.
  const changed = names.filter((name) => input[name] !== before[name]);
  return {
    ...Object.fromEntries(changed.map((name) => [name, input[name]])),
    ...(!isSame && { kinds: { kinds: [...kinds] } }),
  };
}
