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
          value={retry.queued}
          max={total.count}
          aria-label={texts.deliveries.retryFailed}
        />
        <p role="status">{texts.deliveries.queuedOf(retry.queued, total.count, total.isAll)}</p>
      </div>
    );
  }
  if (retry.isDone) {
    return (
      <Notice look={retry.queued > 0 ? "good" : "warn"} role="status">
        {texts.deliveries.retriedCount(retry.queued)}
      </Notice>
    );
  }
  if (retry.goOn) {
    return (
      <Notice look="warn" role="status">
        {texts.deliveries.stoppedAt(retry.queued)}
      </Notice>
    );
  }
  return <p role="status">{children}</p>;
}
