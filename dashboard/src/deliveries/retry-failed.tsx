import { AttemptOutcome, SessionScope, WebhookEventKind } from "@activity/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
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
import { KINDS, OUTCOMES } from "./delivery-filters.tsx";
import { listedEndpointId } from "./delivery-query.ts";
import { RetryProgress } from "./retry-progress.tsx";
import { type Chosen, useBulkRetry } from "./use-bulk-retry.ts";
import { useEndpointChoices } from "./use-endpoints.ts";
import { endOfRange, useRetriable } from "./use-retriable.ts";

type ListFilters = Pick<Filters, "get" | "choice">;

/**
 * Retries the failed deliveries of a time range, by endpoint, kind and outcome. The filters of the list preset the
 * choices.
 */
export function RetryFailed(props: { filters: ListFilters; of?: string }) {
  const { filters, of } = props;
  // A session that may not see endpoints can still retry the deliveries to the list's endpoint, or to all.
  const maySee = useMay(SessionScope.ENDPOINTS_READ);
  const endpoints = useEndpointChoices(maySee ? "" : listedEndpointId(filters));
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
  filters: ListFilters;
  endpoints: ReturnType<typeof useEndpointChoices>;
  onClose: () => void;
}) {
  const { filters, endpoints } = props;
  const listedId = listedEndpointId(filters);
  const has = (endpointId: string) => endpoints.some(({ value }) => value === endpointId);
  // The list's endpoint may be deleted. Then it is not among the choices.
  const hasListed = has(listedId);
  const [chosen, setChosen] = useState<Chosen>(() => {
    const lastOutcome = filters.choice("outcome", Object.values(AttemptOutcome));
    return {
      endpointId: hasListed ? listedId : "",
      kind: filters.choice("kind", Object.values(WebhookEventKind)),
      lastOutcome,
      includeDelivered: lastOutcome === AttemptOutcome.DELIVERED,
    };
  });
  const [since, setSince] = useState(() => {
    // The list's filters may have only an end. A start after that end would choose nothing.
    const endMs = Math.min(timestampMs(endOfRange(filters.get("until"))), nowMs());
    return filters.get("since") || localFromMs(endMs - (spanMs(filters) ?? DAY_MS));
  });
  const [until, setUntil] = useState(filters.get("until"));
  /** The number of deliveries when the owner clicked. */
  const [total, setTotal] = useState({ count: 0, isAll: true });
  const retry = useBulkRetry();
  const { count, isAll, error } = useRetriable(chosen, since, until);
  const from = timestampFromLocal(since);
  const begin = () => {
    if (from === undefined || count === undefined) return;
    setTotal({ count, isAll });
    retry.begin({ ...chosen, since: from, until: endOfRange(until) });
  };
  /** Applies a changed choice. The progress of a retry belongs to the choices before, so it is forgotten. */
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      retry.forget();
      set(value);
    };
  const choose = <Name extends keyof Chosen>(name: Name) =>
    change((value: Chosen[Name]) => setChosen((before) => ({ ...before, [name]: value })));
  const isWider =
    filters.get("state") !== "" ||
    filters.get("event") !== "" ||
    (!hasListed && listedId !== chosen.endpointId && listedId !== "");
  const choices = [{ value: "", text: texts.deliveries.allEndpoints }, ...endpoints];
  // The endpoint may be deleted after it was chosen. It stays a choice, because without it the field would show "All
  // endpoints".
  if (chosen.endpointId !== "" && !has(chosen.endpointId)) {
    choices.push({ value: chosen.endpointId, text: texts.deliveries.gone });
  }
  return (
    <DialogForm onSubmit={retry.goOn ?? begin}>
      <p>{texts.deliveries.retryFailedText}</p>
      {isWider && <p>{texts.deliveries.retryFailedWider}</p>}
      <DialogFields isDisabled={retry.isPending}>
        <SelectField
          label={texts.deliveries.endpoint}
          value={chosen.endpointId}
          choices={choices}
          onChange={choose("endpointId")}
        />
        <SelectField
          label={texts.deliveries.kind}
          value={chosen.kind}
          choices={KINDS}
          onChange={choose("kind")}
        />
        <SelectField
          label={texts.deliveries.outcome}
          value={chosen.lastOutcome}
          choices={OUTCOMES}
          onChange={choose("lastOutcome")}
        />
        <TextField
          label={`${texts.deliveries.retryFailedSince} (${ZONE})`}
          error={from === undefined ? texts.deliveries.sinceMissing : undefined}
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
          isChosen={chosen.includeDelivered}
          onChange={choose("includeDelivered")}
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
        <Button
          look="primary"
          type="submit"
          isPending={retry.isPending || retry.isDone || !(retry.goOn ?? count)}
        >
          {retry.goOn && !retry.isPending
            ? texts.deliveries.goOnRetrying
            : texts.deliveries.retryFailed}
        </Button>
      </DialogButtons>
    </DialogForm>
  );
}
