import {
  DeliveryService,
  DeliveryState,
  type Endpoint,
  EndpointService,
  WebhookEventKind,
} from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "../common/button.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { StepSection } from "../common/step-section.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";
import { WatchedTest } from "./watched-test.tsx";

/** The last step of a new endpoint: a test. It is done when a test is delivered. */
export function FirstTest({ endpoint, title }: { endpoint: Endpoint; title: string }) {
  const { mutate, data, error, isPending } = useChange(EndpointService.method.sendTest);
  const deliveryId = data?.deliveryId ?? "";
  // This query only reads the cache: WatchedTest makes the calls.
  const { data: watched } = useQuery(
    DeliveryService.method.getDelivery,
    { deliveryId },
    { enabled: false },
  );
  const kind = endpoint.kinds[0] ?? WebhookEventKind.DONATION_CREATED;
  return (
    <StepSection
      number={4}
      title={title}
      isDone={watched?.delivery?.state === DeliveryState.DELIVERED}
    >
      <p>{texts.endpoints.sendTestText}</p>
      <ErrorNotice error={error} />
      <div role="status">{data && <WatchedTest key={deliveryId} deliveryId={deliveryId} />}</div>
      <div>
        <Button
          look="primary"
          isPending={isPending}
          onClick={() => mutate({ endpointId: endpoint.id, kind })}
        >
          {texts.endpoints.sendTest}
        </Button>
      </div>
    </StepSection>
  );
}
