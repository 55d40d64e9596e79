import { type Endpoint, EndpointService } from "@activity/proto";
import { useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { Button } from "../common/button.tsx";
import { ConfirmDialog } from "../common/confirm-dialog.tsx";
import { changeError } from "../common/error-code.ts";
import { texts } from "../texts.ts";
import { endpointText } from "./endpoint-text.ts";

/** Deletes an endpoint after the owner confirms, and returns to the list. */
export function DeleteEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const [, navigate] = useLocation();
  const queryClient = useQueryClient();
  const { mutateAsync, error, isPending, reset } = useMutation(
    EndpointService.method.deleteEndpoint,
  );
  const remove = async () => {
    try {
      await mutateAsync({ endpointId: endpoint.id });
      navigate("/endpoints");
    } finally {
      // Reads all data again, but only after this page is left: it would read the deleted endpoint. After a lost
      // answer, the new data shows what happened.
      await queryClient.invalidateQueries();
    }
  };
  return (
    <ConfirmDialog
      title={texts.endpoints.deleteTitle}
      text={texts.endpoints.deleteText}
      subject={
        <strong>
          <bdi>{endpointText(endpoint)}</bdi>
        </strong>
      }
      action={texts.endpoints.delete}
      onConfirm={remove}
      error={changeError(error)}
      isPending={isPending}
      onClosed={reset}
      trigger={(open) => (
        <Button onClick={open} look="danger">
          {texts.endpoints.delete}
        </Button>
      )}
    />
  );
}
