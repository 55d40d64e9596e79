import type { Activity } from "../contract.ts";

/** The first line of an export. */
export const CSV_HEADER =
  "id,type,platform,occurred_at,recorded_at,name,message,value,unit,currency,refunded_amount_cents";

/** Writes a record as a line of CSV. RFC 4180 */
export function csvLine(activity: Activity): string {
  return [
    ...[activity.id, activity.type, activity.platform, activity.occurred_at, activity.recorded_at],
    ...[activity.actor.name, activity.message, activity.value, activity.unit, activity.currency],
    activity.refunded_amount_cents,
  ]
    .map(csvCell)
    .join(",");
}

/**
 * The places where a spreadsheet would run a formula. A spreadsheet with decimal commas splits at `;`, even inside
 * quotes. Some spreadsheets read full-width signs as formulas, and drop NULs.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=["\0]*(?:[=+@＝＋＠\t\r]|[-－](?!\))))/g; // ";-)" is no formula

/** Quotes a cell. Puts an apostrophe before each text that a spreadsheet would run as a formula. */
function csvCell(value: string | number | null): string {
  const text = String(value ?? "").replace(FORMULA, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
