import { SessionScope } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import { ActionDialog } from "../common/action-dialog.tsx";
import { Button } from "../common/button.tsx";
import { ChoiceBox } from "../common/choice-box.tsx";
import { DAY_MS, nowMs } from "../common/clock.ts";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { DialogFields, DialogForm } from "../common/dialog-form.tsx";
import { ErrorNotice } from "../common/error-notice.tsx";
import { localFromMs, timestampFromLocal } from "../common/local-time.ts";
import { SelectField } from "../common/select-field.tsx";
import { TextField } from "../common/text-field.tsx";
import { ZONE } from "../common/time.tsx";
import { spanMs } from "../common/time-range.ts";
import type { Filters } from "../common/use-filters.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { RetryProgress } from "./retry-progress.tsx";
import { useBulkRetry } from "./use-bulk-retry.ts";
import { useEndpointChoices } from "./use-endpoints.ts";
import { useRetriable } from "./use-retriable.ts";

/** Retries what failed to one endpoint or all in a range of time; the list's filters choose both at first. */
export function RetryFailed(props: { filters: Pick<Filters, "get">; of?: string }) {
  const { filters, of } = props;
  const endpoints = useEndpointChoices();
  // A session that may not see them retries what failed to all.
  const maySee = useMay(SessionScope.ENDPOINTS_READ);
  if (maySee && endpoints.length === 0) return null;
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
  const [endpointId, setEndpointId] = useState(filters.get("endpoint"));
  const [since, setSince] = useState(
    () => filters.get("since") || localFromMs(nowMs() - (spanMs(filters) ?? DAY_MS)),
  );
  const [until, setUntil] = useState(filters.get("until"));
  const [includeDelivered, setIncludeDelivered] = useState(false);
  /** How many there were at the click. */
  const [total, setTotal] = useState({ count: 0, isAll: true });
  const retry = useBulkRetry();
  const { count, isAll, error } = useRetriable(endpointId, since, until, includeDelivered);
  const from = timestampFromLocal(since);
  const begin = () => {
    if (from === undefined || count === undefined) return;
    setTotal({ count, isAll });
    const to = timestampFromLocal(until) ?? timestampFromMs(nowMs());
    retry.begin({ endpointId, includeDelivered, since: from, until: to });
  };
  /** What was said counted for other choices. */
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      retry.forget();
      set(value);
    };
  return (
    <DialogForm onSubmit={retry.goOn ?? begin}>
      <p>{texts.deliveries.retryFailedText}</p>
      <DialogFields isDisabled={retry.isPending}>
        <SelectField
          label={texts.deliveries.endpoint}
          value={endpointId}
          choices={[{ value: "", text: texts.deliveries.allEndpoints }, ...endpoints]}
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
        <ChoiceBox
          type="checkbox"
          isChosen={includeDelivered}
          onChange={change(setIncludeDelivered)}
        >
          {texts.deliveries.includeDelivered}
        </ChoiceBox>
      </DialogFields>
      <ErrorNotice error={retry.error ?? error} />
      <RetryProgress retry={retry} total={total}>
        {count !== undefined && texts.deliveries.retriable(count, isAll)}
      </RetryProgress>
      <DialogButtons>
        {retry.isPending ? (
          <Button onClick={retry.stop}>{texts.deliveries.stopRetry}</Button>
        ) : (
          <Button onClick={props.onClose}>{texts.close}</Button>
        )}
        <Button look="primary" type="submit" isPending={retry.isPending || !(retry.goOn ?? count)}>
          {retry.goOn && !retry.isPending
            ? texts.deliveries.goOnRetrying
            : texts.deliveries.retryFailed}
        </Button>
      </DialogButtons>
    </DialogForm>
  );
}
