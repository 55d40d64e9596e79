import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ReactNode } from "react";
import { texts } from "../texts.ts";
import { ErrorNotice } from "./error-notice.tsx";
import styles from "./loaded.module.css";
import { Notice } from "./notice.tsx";
import { shownData } from "./shown-data.ts";
import { Time } from "./time.tsx";

/** The part of a query that `Loaded` uses. */
type Asked<Data> = {
  readonly data: Data | undefined;
  readonly error: unknown;
  /** The time of the data, in milliseconds since 1970. */
  readonly dataUpdatedAt: number;
  /** The reason of the last failure while the query still retries. */
  readonly failureReason: unknown;
  /** Whether the data belongs to the previous filters. */
  readonly isPlaceholderData: boolean;
  /** "paused" while the browser is offline. */
  readonly fetchStatus: string;
  readonly refetch: () => unknown;
};

/**
 * Shows a query's data, its error, or a placeholder while it loads. After a temporary failure it keeps the data and
 * adds a warning. It does not keep data of the previous filters.
 */
export function Loaded<Data>(props: { query: Asked<Data>; children: (data: Data) => ReactNode }) {
  const { refetch, isPlaceholderData, fetchStatus } = props.query;
  const error = props.query.error ?? props.query.failureReason;
  const isOfOtherFilters = isPlaceholderData && (error || fetchStatus === "paused");
  const data = isOfOtherFilters ? undefined : shownData(props.query);
  if (data !== undefined) {
    return (
      <>
        <div role="status">
          {error ? (
            <Notice look="warn">
              <span>
                {texts.stale} <Time at={timestampFromMs(props.query.dataUpdatedAt)} />.
              </span>
            </Notice>
          ) : null}
        </div>
        {props.children(data)}
      </>
    );
  }
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  return (
    <div className={styles.loading} role="status" aria-label={texts.loading}>
      <div />
      <div />
      <div />
    </div>
  );
}
