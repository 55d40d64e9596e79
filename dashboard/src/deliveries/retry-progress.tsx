import type { ReactNode } from "react";
import { Notice } from "../common/notice.tsx";
import { texts } from "../texts.ts";
import type { useBulkRetry } from "./use-bulk-retry.ts";

/** Shows the progress of a bulk retry, and its result when it has ended. Before it begins, it shows `children`. */
export function RetryProgress(props: {
  retry: ReturnType<typeof useBulkRetry>;
  total: { count: number; isAll: boolean };
  children: ReactNode;
}) {
  const { retry, total, children } = props;
  if (retry.isPending) {
    return (
      <div>
        <progress
          value={retry.onTheWay}
          max={total.count}
          aria-label={texts.deliveries.retryFailed}
        />
        <p role="status">{texts.deliveries.onTheWayOf(retry.onTheWay, total.count, total.isAll)}</p>
      </div>
    );
  }
  if (retry.isDone) {
    return (
      <Notice look={retry.onTheWay > 0 ? "good" : "warn"} role="status">
        {texts.deliveries.retriedCount(retry.onTheWay)}
      </Notice>
    );
  }
  if (retry.goOn) {
    return (
      <Notice look="warn" role="status">
        {texts.deliveries.stoppedAt(retry.onTheWay)}
      </Notice>
    );
  }
  return <p role="status">{children}</p>;
}
