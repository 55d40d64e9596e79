/** What happened and what to do, by the codes of docs/errors.md. */
export const errors: Readonly<Record<string, string | undefined>> = {
  invalid_parameter: "We cannot accept one of these values. Change it, then try again.",
  invalid_cursor: "The list has changed too much to go on. Open it again.",
  account_unavailable: "The account is not available now. Ask the site that brought you here.",
  rate_limit_exceeded: "Too many requests. Wait a minute and try again.",
  temporarily_unavailable: "The service cannot answer just now. Try again in a moment.",
  internal_error: "Something broke on our side. Try again; if it stays, tell support the time.",
  permission_denied:
    "This session may not do that. Ask the site that brought you here for a link that may.",
  account_not_found: "The account is not there any more.",
  api_key_not_found: "The key is not there any more. Open the list again.",
  api_key_not_active: "An expired or revoked key cannot be renewed. Create a new one.",
  api_key_limit_reached:
    "Ten keys are active, which is the most. Revoke one that is not needed, then create this one.",
  test_limit_reached: "You sent ten tests within a minute. Wait a minute, then send the next one.",
  bulk_retry_limit_reached:
    "You retried failed deliveries within the last minute. Try again in a minute.",
  api_key_created_recently:
    "One key may be created a minute, and the last one is younger. Wait a minute and try again.",
  endpoint_not_found: "The endpoint is not there any more. Open the list again.",
  endpoint_limit_reached: "There are ten endpoints, which is the most. Delete one first.",
  endpoint_switched_off:
    "The endpoint is off or deleted, so nothing is sent to it. Switch it on first.",
  secret_rotation_pending:
    "A new secret was shown already and does not sign yet. Keep the old one first, then rotate again.",
  secret_rotation_not_pending: "The new secret signs already, or the rotation was canceled before.",
  delivery_not_found: "The delivery is not there any more.",
  delivery_already_delivered: "It was delivered already, so there is nothing to retry.",
  delivery_erased: "The donation was deleted that it tells of, so it is never sent.",
  session_ended: "Your session has ended.",
  session_of_another_account: "You are in the dashboard of another account.",
  session_link_used_up: "This link no longer works.",
};
