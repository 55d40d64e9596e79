import { DeliveryService } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { ChoiceBox } from "../common/choice-box.tsx";
import { DAY_MS, nowMs } from "../common/clock.ts";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogForm } from "../common/dialog-form.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { localFromMs, timestampFromLocal } from "../common/local-time.ts";
import { Notice } from "../common/notice.tsx";
import { SelectField } from "../common/select-field.tsx";
import { TextField } from "../common/text-field.tsx";
import { ZONE } from "../common/time.tsx";
import { spanMs } from "../common/time-range.ts";
import { useChange } from "../common/use-change.ts";
import type { Filters } from "../common/use-filters.ts";
import { texts } from "../texts.ts";
import { useEndpointChoices } from "./use-endpoints.ts";
import { useRetriable } from "./use-retriable.ts";

/** Retries what failed to an endpoint in a range of time; the list's filters choose both at first. */
export function RetryFailed(props: { filters: Pick<Filters, "get">; of?: string }) {
  const { filters, of } = props;
  const endpoints = useEndpointChoices();
  if (endpoints.length === 0) return null;
  return (
    <ActionDialog
      title={texts.deliveries.retryFailedTitle}
      trigger={(open) => (
        <Button onClick={open} aria-label={of && `${texts.deliveries.retryFailed}: ${of}`}>
          {texts.deliveries.retryFailed}
        </Button>
      )}
    >
      {(close) => <RetryForm filters={filters} endpoints={endpoints} onClose={close} />}
    </ActionDialog>
  );
}

function RetryForm(props: {
  filters: Pick<Filters, "get">;
  endpoints: ReturnType<typeof useEndpointChoices>;
  onClose: () => void;
}) {
  const { filters, endpoints } = props;
  const [only, ...others] = endpoints;
  const [endpointId, setEndpointId] = useState(
    filters.get("endpoint") || (others.length === 0 ? (only?.value ?? "") : ""),
  );
  const [since, setSince] = useState(
    () => filters.get("since") || localFromMs(nowMs() - (spanMs(filters) ?? DAY_MS)),
  );
  const [until, setUntil] = useState(filters.get("until"));
  const { mutate, data, error, isPending, reset } = useChange(
    DeliveryService.method.retryFailedDeliveries,
  );
  const [includeDelivered, setIncludeDelivered] = useState(false);
  const retriable = useRetriable(endpointId, since, until, includeDelivered);
  const from = timestampFromLocal(since);
  const retry = () =>
    from &&
    mutate({
      endpointId,
      includeDelivered,
      since: from,
      until: timestampFromLocal(until) ?? timestampFromMs(nowMs()),
    });
  /** What was said counted for other choices. */
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      reset();
      set(value);
    };
  return (
    <DialogForm onSubmit={retry}>
      <p>{texts.deliveries.retryFailedText}</p>
      <SelectField
        label={texts.deliveries.endpoint}
        value={endpointId}
        choices={[{ value: "", text: texts.deliveries.chooseEndpoint }, ...endpoints]}
        onChange={change(setEndpointId)}
      />
      <TextField
        label={`${texts.deliveries.retryFailedSince} (${ZONE})`}
        type="datetime-local"
        value={since}
        onChange={change(setSince)}
      />
      <TextField
        label={`${texts.deliveries.retryFailedUntil} (${ZONE})`}
        hint={texts.deliveries.untilNow}
        type="datetime-local"
        value={until}
        onChange={change(setUntil)}
      />
      <ChoiceBox type="checkbox" isChosen={includeDelivered} onChange={change(setIncludeDelivered)}>
        {texts.deliveries.includeDelivered}
      </ChoiceBox>
      <ErrorNotice error={error ?? retriable.error} />
      {data ? (
        <Notice look={data.retried > 0n ? "good" : "warn"} role="status">
          {texts.deliveries.retriedCount(Number(data.retried))}
        </Notice>
      ) : (
        <p role="status">
          {retriable.data && texts.deliveries.retriable(retriable.data.count, retriable.data.isAll)}
        </p>
      )}
      <DialogButtons>
        <Button onClick={props.onClose}>{texts.close}</Button>
        <Button look="primary" type="submit" isPending={isPending || !retriable.data?.count}>
          {texts.deliveries.retryFailed}
        </Button>
      </DialogButtons>
    </DialogForm>
  );
}
