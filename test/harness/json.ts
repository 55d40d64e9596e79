/** An activity as the HTTP API shows it. §2.1 */
export type ActivityJson = {
  id: string;
  type: string;
  platform: string;
  occurred_at: string;
  recorded_at: string;
  actor: { name: string | null };
  message: string | null;
  value: number;
  unit: string;
  currency: string | null;
  refunded_amount_cents: number | null;
};

/** A page as the HTTP API shows it. §4.2 */
export type PageJson = {
  data: ActivityJson[];
  pagination: { has_more: boolean; next_cursor: string | null };
};

/** A failure as the HTTP API shows it. §7 */
export type ErrorJson = { error: { code: string; message: string; request_id: string } };
