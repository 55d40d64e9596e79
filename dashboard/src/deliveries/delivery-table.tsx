import type { Delivery } from "@activity/proto";
import { Link } from "wouter";
import { Badge } from "../common/badge.tsx";
import { type Column, Table } from "../common/table.tsx";
import { Time } from "../common/time.tsx";
import { texts } from "../texts.ts";
import { EndpointName } from "./endpoint-name.tsx";
import { attemptsText, shownDelivery } from "./shown-delivery.ts";
import { StateBadge } from "./state-badge.tsx";
import { useIsGone } from "./use-endpoints.ts";

/** Deliveries, each a link to all that is known of it. */
export function DeliveryTable({ deliveries }: { deliveries: readonly Delivery[] }) {
  const isGone = useIsGone();
  return (
    <Table
      label={texts.pages.deliveries}
      columns={COLUMNS}
      rows={deliveries.map((each) => shownDelivery(each, isGone(each)))}
      rowKey={({ id }) => id}
    />
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  {
    title: texts.deliveries.event,
    cell: ({ id, kind, test }) => (
      <>
        <Link href={`/deliveries/${id}`}>{texts.deliveries.kinds[kind]}</Link>{" "}
        {test && <Badge look="plain" text={texts.test} />}
      </>
    ),
  },
  { title: texts.deliveries.state, cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: texts.deliveries.outcome,
    cell: ({ lastOutcome }) => texts.deliveries.outcomes[lastOutcome] || texts.none,
  },
  {
    title: texts.deliveries.attempts,
    cell: attemptsText,
  },
  {
    title: texts.deliveries.endpoint,
    isLong: true,
    cell: (delivery) => <EndpointName delivery={delivery} />,
  },
  {
    title: texts.deliveries.createdAt,
    cell: ({ createdAt }) => <Time at={createdAt} hasSeconds />,
  },
];
