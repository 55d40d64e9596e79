import { EndpointService, WebhookEventKind } from "@activity/proto";
import { useLocation } from "wouter";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";
import { EndpointForm } from "./endpoint-form.tsx";
import { NewSecret } from "./new-secret.tsx";

const INITIAL = {
  ...{ url: "", kinds: [WebhookEventKind.DONATION_CREATED] },
  ...{ standardWebhooks: false, minAmountCents: 0n },
};

/** Creates an endpoint, shows its signing secret, this once, and goes to its page, where a test can be sent. */
export function CreateEndpoint({ isDisabled }: { isDisabled: boolean }) {
  const [, navigate] = useLocation();
  const { mutate, data, error, isPending, reset } = useChange(
    EndpointService.method.createEndpoint,
  );
  return (
    <ActionDialog
      title={data ? texts.endpoints.createdTitle : texts.endpoints.create}
      isKept={isPending || data !== undefined}
      onClosed={() => {
        if (data?.endpoint) navigate(`/endpoints/${data.endpoint.id}`);
        reset();
      }}
      trigger={(open) => (
        <Button onClick={open} look="primary" isDisabled={isDisabled}>
          {texts.endpoints.create}
        </Button>
      )}
    >
      {(close) =>
        data ? (
          <NewSecret secret={data.secret} onDone={close} />
        ) : (
          <EndpointForm
            initial={INITIAL}
            action={texts.endpoints.create}
            error={error}
            isPending={isPending}
            onCancel={close}
            onSubmit={({ kinds, ...input }) => mutate({ ...input, kinds: { kinds: [...kinds] } })}
          />
        )
      }
    </ActionDialog>
  );
}
