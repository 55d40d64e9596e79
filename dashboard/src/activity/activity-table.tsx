import type { Activity } from "@activity/proto";
import { type Column, Table } from "../common/table.tsx";
import { Time } from "../common/time.tsx";
import { UntrustedText } from "../common/untrusted-text.tsx";
import { texts } from "../texts.ts";
import styles from "./activity-table.module.css";
import { amountText, valueText } from "./value-text.ts";

/** Activities as the API shows them. */
export function ActivityTable({ activities }: { activities: readonly Activity[] }) {
  return (
    <Table
      label={texts.pages.activity}
      columns={COLUMNS}
      rows={activities}
      rowKey={({ id }) => id}
    />
  );
}

const COLUMNS: readonly Column<Activity>[] = [
  { title: texts.activity.type, cell: ({ type }) => texts.activity.types[type] },
  {
    title: texts.activity.actor,
    isLong: true,
    cell: ({ actorName }) =>
      actorName === undefined ? texts.activity.anonymous : <UntrustedText text={actorName} />,
  },
  { title: texts.activity.value, cell: (activity) => <Value activity={activity} /> },
  {
    title: texts.activity.message,
    isLong: true,
    cell: ({ message }) => (message === undefined ? texts.none : <UntrustedText text={message} />),
  },
  { title: texts.activity.platform, cell: ({ platform }) => texts.activity.platforms[platform] },
  {
    title: texts.activity.recordedAt,
    cell: ({ recordedAt }) => <Time at={recordedAt} hasSeconds />,
  },
];

function Value({ activity }: { activity: Activity }) {
  const refunded = Number(activity.refundedAmountCents ?? 0);
  return (
    <>
      <span className={styles.amount}>{valueText(activity) || texts.none}</span>{" "}
      {refunded > 0 && (
        <span className={styles.amount}>
          ({texts.activity.refunded(amountText(refunded, activity.currency))})
        </span>
      )}
    </>
  );
}
