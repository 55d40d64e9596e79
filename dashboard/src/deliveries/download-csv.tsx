import { type Delivery, DeliveryService } from "@activity/proto";
import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../common/button.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { Notice } from "../common/notice.tsx";
import type { Filters } from "../common/use-filters.ts";
import { texts } from "../texts.ts";
import { deliveriesCsv } from "./deliveries-csv.ts";
import { useDeliveryRequest } from "./delivery-query.ts";
import { useEndpoints } from "./use-endpoints.ts";

/** The maximum page size. */
const pageSize = 100;
/** The most deliveries in one file. A browser reads this number in about a minute and has the memory for it. */
const MAX_ROWS = 10_000;
/** How long the file stays available: Safari reads it only after the click has ended. */
const SAVE_MS = 60_000;

/**
 * Reads up to `MAX_ROWS` deliveries that match the filters, page by page. Then the browser saves them as a CSV file.
 */
export function DownloadCsv({ filters }: { filters: Filters }) {
  const deliveries = createClient(DeliveryService, useTransport());
  const request = useDeliveryRequest(filters);
  const endpoints = useEndpoints();
  const [count, setCount] = useState(0);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async () => {
      const rows: Delivery[] = [];
      let pageToken = "";
      setCount(0);
      do {
        const page = await deliveries.listDeliveries({ ...request, pageSize, pageToken });
        rows.push(...page.deliveries);
        setCount(rows.length);
        pageToken = page.nextPageToken;
      } while (pageToken !== "" && rows.length < MAX_ROWS);
      save(deliveriesCsv(rows, endpoints));
      return { isAll: pageToken === "" };
    },
  });
  return (
    <>
      <Button isPending={isPending} onClick={() => mutate()}>
        {isPending && count > 0 ? texts.deliveries.reading(count) : texts.deliveries.downloadCsv}
      </Button>
      <ErrorNotice error={error} />
      <div role="status">
        {data?.isAll === false && <Notice look="warn">{texts.deliveries.csvCut(MAX_ROWS)}</Notice>}
      </div>
    </>
  );
}

/** Begins the file with a byte order mark. Without it Excel garbles names. */
function save(csv: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\uFEFF", csv], { type: "text/csv" }));
  link.download = "deliveries.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVE_MS);
}
