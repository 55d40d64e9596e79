import { DeliveryService } from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "wouter";
import { Empty } from "../common/empty.tsx";
import { Loaded } from "../common/loaded.tsx";
import { Section } from "../common/section.tsx";
import { unlessRefused } from "../common/shown-data.ts";
import { DeliveryTable } from "../deliveries/delivery-table.tsx";
import { texts } from "../texts.ts";

const SHOWN = 5;
const READ_AGAIN_MS = 5_000;

/** The last few deliveries to an endpoint. */
export function LatestDeliveries({ endpointId }: { endpointId: string }) {
  const query = useQuery(
    DeliveryService.method.listDeliveries,
    { endpointId, pageSize: SHOWN },
    { refetchInterval: unlessRefused(READ_AGAIN_MS) },
  );
  return (
    <Section
      title={texts.endpoints.recent}
      aside={
        <Link href={`/deliveries?endpoint=${endpointId}`}>{texts.endpoints.showAllDeliveries}</Link>
      }
    >
      <Loaded query={query}>
        {({ deliveries }) =>
          deliveries.length > 0 ? (
            <DeliveryTable deliveries={deliveries} />
          ) : (
            <Empty title={texts.endpoints.noRecent} text={texts.endpoints.noRecentText} />
          )
        }
      </Loaded>
    </Section>
  );
}
