import type { Limits } from "@activity/proto";
import { many } from "./words.ts";

/** The limit that was reached, and what to do, by the codes of docs/errors.md. */
export const limits: Readonly<Record<string, ((limits: Limits) => string) | undefined>> = {
  api_key_limit_reached: ({ activeApiKeys }) =>
    `You've reached the limit of ${many(activeApiKeys, "active key", "active keys")}. Revoke one first.`,
  api_key_created_recently: ({ apiKeysPerMinute }) =>
    `You can create ${many(apiKeysPerMinute, "key", "keys")} per minute. Try again in a minute.`,
  endpoint_limit_reached: ({ endpoints }) =>
    `You've reached the limit of ${many(endpoints, "endpoint", "endpoints")}. Delete one first.`,
  test_limit_reached: ({ testsPerMinute }) =>
    `You can send ${many(testsPerMinute, "test", "tests")} per minute. Try again in a minute.`,
  bulk_retry_limit_reached: ({ bulkRetriesPerMinute }) =>
    `You can retry failed deliveries ${many(bulkRetriesPerMinute, "time", "times")} per minute. Try again in a minute.`,
};

/** The problem, and what to do, by the codes of docs/errors.md. */
export const errors: Readonly<Record<string, string | undefined>> = {
  invalid_parameter: "We cannot accept one of these values. Change it, then try again.",
  invalid_cursor: "This list has changed. Open it again.",
  account_unavailable: "Your account is not available now. Ask the site that brought you here.",
  rate_limit_exceeded: "Too many requests. Wait a minute and try again.",
  temporarily_unavailable: "The service is not available now. Try again in a moment.",
  internal_error:
    "Something broke on our side. Try again. If it fails again, tell support the time.",
  permission_denied:
    "This session, or this page's address, does not permit that. Ask the site that brought you here for another link.",
  account_not_found: "This account no longer exists.",
  api_key_not_found: "This key no longer exists. Open the list again.",
  api_key_not_active: "An expired or revoked key cannot be renewed. Create a new one.",
  endpoint_not_found: "This endpoint no longer exists. Nothing can be sent to it.",
  endpoint_switched_off: "This endpoint is off. Switch it on first.",
  secret_rotation_pending: "A rotation is pending. Keep the old secret first, then rotate again.",
  secret_rotation_not_pending:
    "The rotation has ended: the new secret signs, or you kept the old one.",
  delivery_not_found: "This delivery no longer exists.",
  delivery_already_delivered: "It was delivered already.",
  delivery_erased: "Its donation was deleted, so we do not send it any more.",
  session_ended: "Your session has ended.",
  session_of_another_account: "You are in the dashboard of another account.",
  session_link_used_up: "This link no longer works.",
};
