import { type Delivery, DeliveryState } from "@activity/proto";
import { Ago } from "../common/ago.tsx";
import { Aside } from "../common/aside.tsx";
import { Badge } from "../common/badge.tsx";
import { useLimits } from "../common/limits-context.ts";
import { type Column, Table } from "../common/table.tsx";
import { texts } from "../texts.ts";
import { DeliveryName } from "./delivery-name.tsx";
import { EndpointHost } from "./endpoint-host.tsx";
import { attemptsText, isOnItsWay, shownDelivery } from "./shown-delivery.ts";
import { StateBadge } from "./state-badge.tsx";
import { useIsGone } from "./use-endpoints.ts";

/** A table of deliveries. Each links to its page. */
export function DeliveryTable({ deliveries }: { deliveries: readonly Delivery[] }) {
  const isGone = useIsGone();
  return (
    <Table
      label={texts.pages.deliveries}
      columns={COLUMNS}
      rows={deliveries.map((each) => shownDelivery(each, isGone(each)))}
      rowKey={({ id }) => id}
      at={({ createdAt }) => createdAt}
      href={({ id }) => `/deliveries/${id}`}
    />
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  {
    title: texts.deliveries.event,
    isLong: true,
    cell: (delivery) => (
      <>
        <DeliveryName delivery={delivery} />{" "}
        {(delivery.donation || delivery.test) && (
          <Aside text={texts.deliveries.kinds[delivery.kind]} />
        )}{" "}
        {delivery.test && <Badge look="plain" text={texts.test} />}
      </>
    ),
  },
  {
    title: texts.deliveries.endpoint,
    isLong: true,
    cell: (delivery) => <EndpointHost delivery={delivery} />,
  },
  {
    title: texts.deliveries.state,
    cell: (delivery) => (
      <>
        <StateBadge state={delivery.state} /> <Outcome delivery={delivery} />
      </>
    ),
  },
  { title: texts.deliveries.createdAt, cell: ({ createdAt }) => <Ago at={createdAt} /> },
];

/** Shows why a delivery is not delivered yet. While further attempts may follow, also shows how many were made. */
function Outcome({ delivery }: { delivery: Delivery }) {
  const limits = useLimits();
  if (delivery.state === DeliveryState.DELIVERED) return null;
  const outcome = texts.deliveries.outcomes[delivery.lastOutcome];
  const attempts =
    isOnItsWay(delivery) && delivery.attempts > 0 && attemptsText(delivery, limits?.attempts);
  return <Aside text={[outcome, attempts].filter(Boolean).join(" · ")} />;
}
