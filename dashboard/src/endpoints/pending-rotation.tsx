import { type Endpoint, EndpointService } from "@activity/proto";
import { Button } from "../common/button.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { Notice } from "../common/notice.tsx";
import { Time } from "../common/time.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";

/** Shows when the new secret starts to sign, with a button that cancels the rotation. */
export function PendingRotation({ endpoint, mayWrite }: { endpoint: Endpoint; mayWrite: boolean }) {
  const { mutate, error, isPending } = useChange(EndpointService.method.cancelRotation);
  return (
    <>
      <Notice look="warn">
        <span>
          {texts.endpoints.rotationPending} <Time at={endpoint.nextSecretSignsFrom} hasSeconds />
        </span>
        {mayWrite && (
          <Button isPending={isPending} onClick={() => mutate({ endpointId: endpoint.id })}>
            {texts.endpoints.cancelRotation}
          </Button>
        )}
      </Notice>
      <ErrorNotice error={error} />
    </>
  );
}
