import { DeliveryService, DeliveryState, SessionScope } from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "wouter";
import { errorText } from "../common/error-code.ts";
import { useLimits } from "../common/limits-context.ts";
import { Notice } from "../common/notice.tsx";
import { UntrustedText } from "../common/untrusted-text.tsx";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";

const LOOK_EVERY_MS = 500;

/** Follows a test until its first attempt ends, and shows the outcome. This needs the scope to read deliveries. */
export function WatchedTest({ deliveryId }: { deliveryId: string }) {
  const mayRead = useMay(SessionScope.DELIVERIES_READ);
  const limits = useLimits();
  const { data, error, failureReason } = useQuery(
    DeliveryService.method.getDelivery,
    { deliveryId },
    {
      enabled: mayRead,
      refetchInterval: ({ state }) =>
        isPending(state.data?.delivery?.state) && state.error === null ? LOOK_EVERY_MS : false,
    },
  );
  const delivery = data?.delivery;
  const link = <Link href={`/deliveries/${deliveryId}`}>{texts.endpoints.showDelivery}</Link>;
  if (!mayRead) return <Notice look="warn">{texts.endpoints.sentUnseen}</Notice>;
  const failure = error ?? failureReason;
  if (failure) return <Notice look="bad">{errorText(failure, limits)}</Notice>;
  if (delivery === undefined || isPending(delivery.state)) {
    return <Notice look="warn">{texts.endpoints.sending}</Notice>;
  }
  if (delivery.state === DeliveryState.DELIVERED) {
    return (
      <Notice look="good">
        {texts.endpoints.arrived} {link}
      </Notice>
    );
  }
  // A test that was canceled before its first attempt has no outcome. Then the state gives the advice.
  const advice =
    texts.deliveries.checks[delivery.lastOutcome] || texts.deliveries.stateHints[delivery.state];
  const detail = data?.attempts.at(-1)?.detail;
  return (
    <Notice look="bad">
      <strong>
        {texts.endpoints.notArrived} {texts.deliveries.outcomes[delivery.lastOutcome]}
      </strong>
      <span>
        {advice} {delivery.state === DeliveryState.RETRYING && texts.deliveries.retried}
      </span>
      {detail !== undefined && <UntrustedText text={detail} />}
      {link}
    </Notice>
  );
}

function isPending(state: DeliveryState | undefined): boolean {
  return state === undefined || state === DeliveryState.PENDING;
}
