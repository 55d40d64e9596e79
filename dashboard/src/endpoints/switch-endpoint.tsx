import { type Endpoint, EndpointService } from "@activity/proto";
import { Button } from "../common/button.tsx";
import { ConfirmDialog } from "../common/confirm-dialog.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";

/** Switches an endpoint on at once, or off after the owner confirms. */
export function SwitchEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const on = useChange(EndpointService.method.switchOnEndpoint);
  const off = useChange(EndpointService.method.switchOffEndpoint);
  const endpointId = endpoint.id;
  if (!endpoint.switchedOn) {
    return (
      <>
        <Button look="primary" isPending={on.isPending} onClick={() => on.mutate({ endpointId })}>
          {texts.endpoints.switchOn}
        </Button>
        <ErrorNotice error={on.error} />
      </>
    );
  }
  return (
    <ConfirmDialog
      title={texts.endpoints.switchOffTitle}
      text={texts.endpoints.switchOffText}
      action={texts.endpoints.switchOff}
      onConfirm={() => off.mutateAsync({ endpointId })}
      error={off.error}
      isPending={off.isPending}
      onClosed={off.reset}
      trigger={(open) => <Button onClick={open}>{texts.endpoints.switchOff}</Button>}
    />
  );
}
