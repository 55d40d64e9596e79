import type { Activity } from "@activity/proto";
import { Ago } from "../common/ago.tsx";
import { Aside } from "../common/aside.tsx";
import { type Column, Table } from "../common/table.tsx";
import { UntrustedText } from "../common/untrusted-text.tsx";
import { recordHref } from "../record/record-address.ts";
import { RecordName } from "../record/record-name.tsx";
import { amountText, valueText } from "../record/value-text.ts";
import { texts } from "../texts.ts";

/** A table of activities, as the API shows them. Each links to its page. */
export function ActivityTable({ activities }: { activities: readonly Activity[] }) {
  return (
    <Table
      label={texts.pages.activity}
      columns={COLUMNS}
      rows={activities}
      rowKey={({ id }) => id}
      at={({ recordedAt }) => recordedAt}
      href={({ id, recordedAt }) => recordHref(id, recordedAt)}
    />
  );
}

/** Returns the refunded part of a donation as text; empty if nothing was refunded. */
export function refundedText({ refundedAmountCents, currency }: Activity): string {
  const refunded = Number(refundedAmountCents ?? 0);
  return refunded > 0 ? texts.activity.refunded(amountText(refunded, currency)) : "";
}

const COLUMNS: readonly Column<Activity>[] = [
  {
    title: texts.activity.actor,
    isLong: true,
    cell: (activity) => <RecordName name={activity.actorName} value={valueText(activity)} />,
  },
  {
    title: texts.activity.type,
    cell: (activity) => (
      <>
        {texts.activity.types[activity.type]}{" "}
        <Aside text={refundedText(activity) || texts.activity.platforms[activity.platform]} />
      </>
    ),
  },
  {
    title: texts.activity.message,
    isLong: true,
    cell: ({ message }) => message !== undefined && <UntrustedText text={message} />,
  },
  { title: texts.activity.recordedAt, cell: ({ recordedAt }) => <Ago at={recordedAt} /> },
];
