import { type AttemptOutcome, DeliveryService, type WebhookEventKind } from "@activity/proto";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { changeError } from "../common/error-code.ts";

/** The size of a part. One part must take less than a second. */
const pageSize = 100;

/** The choice of deliveries to retry, without the time range. */
export type Chosen = {
  /** Empty means every endpoint. */
  readonly endpointId: string;
  /** Unspecified means all kinds. The same is true for the outcome. */
  readonly kind: WebhookEventKind;
  readonly lastOutcome: AttemptOutcome;
  readonly includeDelivered: boolean;
};
type Retried = Chosen & { readonly since: Timestamp; readonly until: Timestamp };

type Progress = {
  readonly retried: Retried;
  readonly onTheWay: number;
  readonly pageToken: string;
};

/**
 * Retries deliveries in parts. After `stop`, or when its dialog closes, it requests no further part. `goOn` continues
 * from there. ADR 0053
 */
export function useBulkRetry() {
  const deliveries = createClient(DeliveryService, useTransport());
  const queryClient = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  const isStopped = useRef(false);
  const { mutate, error, isPending, isSuccess, reset } = useMutation({
    mutationFn: async (from: Progress) => {
      isStopped.current = false;
      let now = from;
      do {
        setProgress(now);
        const { retried, pageToken } = now;
        const part = await deliveries.retryFailedDeliveries({ ...retried, pageSize, pageToken });
        const onTheWay = now.onTheWay + Number(part.retried);
        now = { retried, onTheWay, pageToken: part.nextPageToken };
      } while (now.pageToken !== "" && !isStopped.current);
      setProgress(now);
    },
    // The new reads are not awaited: the result must show even while lists cannot be read.
    onSettled: () => {
      void queryClient.invalidateQueries();
    },
  });
  const stop = () => {
    isStopped.current = true;
  };
  useEffect(() => stop, []);
  const isBegun = progress !== undefined && progress.pageToken !== "";
  return {
    ...{ error: changeError(error), isPending, stop },
    onTheWay: progress?.onTheWay ?? 0,
    isDone: isSuccess && !isBegun,
    /** Continues the retry. `undefined` unless it has begun and has not ended. */
    goOn: isBegun ? () => mutate(progress) : undefined,
    begin: (retried: Retried) => mutate({ retried, onTheWay: 0, pageToken: "" }),
    forget: () => {
      reset();
      setProgress(undefined);
    },
  };
}
