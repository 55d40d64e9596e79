import {
  type Activity,
  ActivityType,
  DeliveryService,
  Platform,
  SessionScope,
} from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { Empty } from "../common/empty.tsx";
import { Facts } from "../common/facts.tsx";
import { Loaded } from "../common/loaded.tsx";
import { Notice } from "../common/notice.tsx";
import { Page } from "../common/page.tsx";
import { Section } from "../common/section.tsx";
import { unlessRefused } from "../common/shown-data.ts";
import { Time } from "../common/time.tsx";
import { UntrustedText } from "../common/untrusted-text.tsx";
import { DeliveryTable } from "../deliveries/delivery-table.tsx";
import { ActorName } from "../record/actor-name.tsx";
import { valueText } from "../record/value-text.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { refundedText } from "./activity-table.tsx";
import { READ_AGAIN_MS, useRecord } from "./use-record.ts";

/** The prefix of a donation's id. Only donations that were not imported have webhook events. */
const DONATION = "don_";

/** One record of the feed. For a donation, it also lists the deliveries. */
export function RecordPage({ activityId }: { activityId: string }) {
  const mayRead = useMay(SessionScope.DELIVERIES_READ);
  const isDonation = activityId.startsWith(DONATION);
  const query = useRecord(activityId);
  const record = query.data?.record;
  // A record that the feed does not show may have been sent, so its deliveries are listed too.
  const isRead = !query.isPending;
  const maySend =
    isDonation && isRead && (record === undefined || record.platform === Platform.SERVICE);
  const type = record?.type ?? (isDonation ? ActivityType.DONATION : ActivityType.UNSPECIFIED);
  return (
    <Page
      title={texts.activity.types[type] || texts.activity.record}
      back={{ href: "/activity", text: texts.pages.activity }}
    >
      <Loaded query={query}>
        {() => (
          <>
            {record && <Facts facts={factsOf(record)} />}
            <div role="status">
              {!record && <Notice look="warn">{texts.activity.hidden}</Notice>}
            </div>
          </>
        )}
      </Loaded>
      {maySend && mayRead && <RecordDeliveries recordId={activityId.slice(DONATION.length)} />}
    </Page>
  );
}

function RecordDeliveries({ recordId }: { recordId: string }) {
  const query = useQuery(
    DeliveryService.method.listDeliveries,
    { recordId, pageSize: 100 },
    { refetchInterval: unlessRefused(READ_AGAIN_MS) },
  );
  return (
    <Section title={texts.activity.deliveries}>
      <Loaded query={query}>
        {({ deliveries }) =>
          deliveries.length > 0 ? (
            <DeliveryTable deliveries={deliveries} />
          ) : (
            <Empty title={texts.activity.noDeliveries} text={texts.activity.noDeliveriesText} />
          )
        }
      </Loaded>
    </Section>
  );
}

function factsOf(record: Activity) {
  const { actorName, message, platform, occurredAt, recordedAt } = record;
  const value = [valueText(record), refundedText(record)].filter(Boolean).join(" · ");
  return [
    [texts.activity.actor, <ActorName key="actor" name={actorName} />],
    [texts.activity.value, value || texts.none],
    [
      texts.activity.message,
      message === undefined ? texts.none : <UntrustedText key="message" text={message} />,
    ],
    [texts.activity.platform, texts.activity.platforms[platform]],
    [texts.activity.occurredAt, <Time key="occurred" at={occurredAt} hasSeconds />],
    [texts.activity.recordedAt, <Time key="recorded" at={recordedAt} hasSeconds />],
    [texts.activity.id, <code key="id">{record.id}</code>],
  ] as const;
}
