import { type Delivery, DeliveryService, DeliveryState, SessionScope } from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "wouter";
import { Badge } from "../common/badge.tsx";
import { Facts } from "../common/facts.tsx";
import { useLimits } from "../common/limits-context.ts";
import { Loaded } from "../common/loaded.tsx";
import { Page } from "../common/page.tsx";
import { isRefused, shownData } from "../common/shown-data.ts";
import { Time } from "../common/time.tsx";
import { recordHref } from "../record/record-address.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { Attempts } from "./attempts.tsx";
import { DeliveryName } from "./delivery-name.tsx";
import { EndpointName } from "./endpoint-name.tsx";
import { NextAttempt } from "./next-attempt.tsx";
import { Payload } from "./payload.tsx";
import { Replay } from "./replay.tsx";
import { RetryDelivery } from "./retry-delivery.tsx";
import { attemptsText, isOnItsWay, shownDelivery } from "./shown-delivery.ts";
import { StateBadge } from "./state-badge.tsx";
import { useEndpoints, useIsGone } from "./use-endpoints.ts";

const PENDING_MS = 1_000;
const SETTLED_MS = 5_000;

/** One delivery with all its attempts. The page reads it every second while it is pending, then every five seconds. */
export function DeliveryPage({ deliveryId }: { deliveryId: string }) {
  const mayWrite = useMay(SessionScope.DELIVERIES_WRITE);
  const mayReadActivity = useMay(SessionScope.ACTIVITY_READ);
  const query = useQuery(
    DeliveryService.method.getDelivery,
    { deliveryId },
    {
      refetchInterval: ({ state }) => {
        if (isRefused(state)) return false;
        return state.data?.delivery?.state === DeliveryState.PENDING ? PENDING_MS : SETTLED_MS;
      },
    },
  );
  const limits = useLimits();
  const shown = shownData(query);
  const read = shown?.delivery;
  // A delivered delivery keeps its state when its donation is deleted. Its empty payload shows the deletion.
  const isErased = shown?.payload.length === 0;
  const endpoint = useEndpoints()?.get(read?.endpointId ?? "");
  const isEndpointGone = useIsGone();
  const isGone = read !== undefined && isEndpointGone(read);
  const delivery = read && shownDelivery(read, isGone);
  const isPaused = endpoint?.switchedOn === false && delivery !== undefined && isOnItsWay(delivery);
  return (
    <Page
      title={texts.deliveries.kinds[delivery?.kind ?? 0] || texts.deliveries.title}
      state={
        delivery && (
          <>
            <StateBadge state={delivery.state} />
            {delivery.test && <Badge look="plain" text={texts.test} />}
            <span>
              {isPaused
                ? texts.deliveries.endpointOff
                : texts.deliveries.stateHints[delivery.state]}
            </span>
          </>
        )
      }
      back={{ href: "/deliveries", text: texts.pages.deliveries }}
      actions={
        mayWrite &&
        delivery &&
        !isGone &&
        !isErased && (
          // A new state or run resets the button, because the outcome of the last retry is no longer true.
          <RetryDelivery key={`${delivery.state} ${delivery.run}`} delivery={delivery} />
        )
      }
    >
      <Loaded query={query}>
        {({ attempts, payload }) =>
          delivery && (
            <>
              <Facts facts={factsOf(delivery, mayReadActivity, limits?.attempts)} />
              <Attempts delivery={delivery} attempts={attempts} isPaused={isPaused} />
              <Payload payload={payload} />
              <Replay delivery={delivery} payload={payload} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function factsOf(delivery: Delivery, mayReadActivity: boolean, maxAttempts: number | undefined) {
  const { eventId, createdAt, donation } = delivery;
  const name = <DeliveryName key="donation" delivery={delivery} />;
  return [
    [
      texts.deliveries.donation,
      donation && mayReadActivity ? (
        <Link key="donation" href={recordHref(`don_${donation.recordId}`, donation.recordedAt)}>
          {name}
        </Link>
      ) : (
        name
      ),
    ],
    [texts.deliveries.endpoint, <EndpointName key="endpoint" delivery={delivery} />],
    [texts.deliveries.eventId, <code key="event">{eventId}</code>],
    [texts.deliveries.createdAt, <Time key="created" at={createdAt} hasSeconds />],
    [texts.deliveries.attempts, attemptsText(delivery, maxAttempts)],
    [texts.deliveries.next, <NextAttempt key="next" delivery={delivery} />],
  ] as const;
}
