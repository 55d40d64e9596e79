import { type Endpoint, EndpointService } from "@activity/proto";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";
import { EndpointForm } from "./endpoint-form.tsx";

/** Edits the settings of an endpoint. */
export function EditEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const { mutateAsync, error, isPending, reset } = useChange(EndpointService.method.updateEndpoint);
  return (
    <ActionDialog
      title={texts.endpoints.editTitle}
      isKept={isPending}
      onClosed={reset}
      trigger={(open) => <Button onClick={open}>{texts.endpoints.edit}</Button>}
    >
      {(close) => (
        <EndpointForm
          initial={endpoint}
          action={texts.save}
          error={error}
          isPending={isPending}
          onCancel={close}
          onSubmit={({ kinds, ...input }) =>
            void mutateAsync({
              endpointId: endpoint.id,
              ...input,
              kinds: { kinds: [...kinds] },
            }).then(close, () => undefined)
          }
        />
      )}
    </ActionDialog>
  );
}
