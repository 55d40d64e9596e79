import type { Delivery, Endpoint } from "@activity/proto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { endpointLabel } from "../common/endpoint-label.ts";
import { texts } from "../texts.ts";

const COLUMNS = [
  ...["delivery_id", "created_at", "event_id", "kind", "test", "endpoint_id", "endpoint"],
  ...["state", "attempts", "last_outcome", "record_id", "donor_name", "amount_cents", "currency"],
];
/**
 * Matches where a spreadsheet would read a formula. With decimal commas, a spreadsheet splits cells at `;`, inside
 * quotes too. Some spreadsheets read full-width signs as the start of a formula, and drop NULs.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=["\0]*(?:[=+@＝＋＠\t\r]|[-－](?!\))))/g; // `;-)` is no formula.

/** Formats deliveries as CSV (RFC 4180) with a header line. Times are in UTC. */
export function deliveriesCsv(
  deliveries: readonly Delivery[],
  endpoints: ReadonlyMap<string, Endpoint> | undefined,
): string {
  const rows = deliveries.map((delivery) => {
    const { createdAt, donation, endpointId } = delivery;
    const endpoint = endpoints?.get(endpointId);
    return [
      ...[delivery.id, createdAt ? timestampDate(createdAt).toISOString() : "", delivery.eventId],
      ...[texts.deliveries.kinds[delivery.kind] ?? "", String(delivery.test), endpointId],
      ...[endpoint ? endpointLabel(endpoint) : "", texts.deliveries.states[delivery.state] ?? ""],
      ...[String(delivery.attempts), texts.deliveries.outcomes[delivery.lastOutcome] ?? ""],
      ...[donation?.recordId ?? "", donation?.donorName ?? ""],
      ...[donation ? String(donation.amountCents) : "", donation?.currency ?? ""],
    ];
  });
  return [COLUMNS, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(text: string): string {
  const safe = text.replace(FORMULA, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
