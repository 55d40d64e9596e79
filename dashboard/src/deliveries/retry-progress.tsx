import type { ReactNode } from "react";
import { Notice } from "../common/notice.tsx";
import { texts } from "../texts.ts";
import type { useBulkRetry } from "./use-bulk-retry.ts";

type Retry = ReturnType<typeof useBulkRetry>;

/** Shows the progress of a bulk retry, and its result when it has ended. Before it begins, it shows `children`. */
export function RetryProgress(props: {
  retry: Retry;
  total: { count: number; isAll: boolean };
  children: ReactNode;
}) {
  const { retry, total, children } = props;
  return (
    <div>
      {retry.isPending && (
        <>
          <progress
            value={retry.onTheWay}
            max={total.count}
            aria-label={texts.deliveries.retryFailed}
          />
          <p>{texts.deliveries.onTheWayOf(retry.onTheWay, total.count, total.isAll)}</p>
        </>
      )}
      <div role="status">{!retry.isPending && <Result retry={retry}>{children}</Result>}</div>
    </div>
  );
}

function Result({ retry, children }: { retry: Retry; children: ReactNode }) {
  if (retry.isDone) {
    return (
      <Notice look={retry.onTheWay > 0 ? "good" : "warn"}>
        {texts.deliveries.retriedCount(retry.onTheWay)}
      </Notice>
    );
  }
  if (retry.goOn) return <Notice look="warn">{texts.deliveries.stoppedAt(retry.onTheWay)}</Notice>;
  return <p>{children}</p>;
}
