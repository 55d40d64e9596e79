import { SessionScope } from "@activity/proto";
import { useState } from "react";
import { ChoiceBox } from "../common/choice-box.tsx";
import { Empty } from "../common/empty.tsx";
import { Loaded } from "../common/loaded.tsx";
import { MoreButton } from "../common/more-button.tsx";
import { Page } from "../common/page.tsx";
import { useFilters } from "../common/use-filters.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { DeliveryFilters } from "./delivery-filters.tsx";
import { useDeliveries } from "./delivery-query.ts";
import { DeliveryTable } from "./delivery-table.tsx";
import { DownloadCsv } from "./download-csv.tsx";
import { RetryFailed } from "./retry-failed.tsx";

/** The account's deliveries, newest first. */
export function DeliveriesPage() {
  const filters = useFilters();
  const [isFollowed, setIsFollowed] = useState(true);
  const query = useDeliveries(filters, isFollowed);
  const hasOlder = (query.data?.pages.length ?? 0) > 1;
  const mayWrite = useMay(SessionScope.DELIVERIES_WRITE);
  return (
    <Page
      title={texts.pages.deliveries}
      state={isFollowed && hasOlder ? texts.deliveries.paused : texts.deliveries.intro}
      actions={
        <>
          <ChoiceBox type="checkbox" isChosen={isFollowed} onChange={setIsFollowed}>
            {texts.follow}
          </ChoiceBox>
          <DownloadCsv filters={filters} />
          {mayWrite && <RetryFailed filters={filters} />}
        </>
      }
    >
      <DeliveryFilters filters={filters} />
      <Loaded query={query}>
        {({ pages }) => {
          const deliveries = pages.flatMap((page) => page.deliveries);
          const empty = filters.isAny ? (
            <Empty title={texts.deliveries.noneFound} text={texts.deliveries.noneFoundText} />
          ) : (
            <Empty title={texts.deliveries.empty} text={texts.deliveries.emptyText} />
          );
          return (
            <>
              {deliveries.length > 0 && <DeliveryTable deliveries={deliveries} />}
              <div role="status">{deliveries.length === 0 && empty}</div>
            </>
          );
        }}
      </Loaded>
      <MoreButton query={query} />
    </Page>
  );
}
