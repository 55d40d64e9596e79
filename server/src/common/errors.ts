/**
 * The codes of all failures that callers see. docs/errors.md describes them. A failure of the HTTP API has the same
 * code here and in its JSON. §7
 */
export const ErrorCode = {
  InvalidParameter: "invalid_parameter",
  InvalidCursor: "invalid_cursor",
  InvalidApiKey: "invalid_api_key",
  AccountUnavailable: "account_unavailable",
  RateLimitExceeded: "rate_limit_exceeded",
  TemporarilyUnavailable: "temporarily_unavailable",
  InternalError: "internal_error",
  InvalidServiceCredential: "invalid_service_credential",
  PermissionDenied: "permission_denied",
  SessionEnded: "session_ended",
  SessionOfAnotherAccount: "session_of_another_account",
  SessionLinkUsedUp: "session_link_used_up",
  DashboardNotServed: "dashboard_not_served",
  AccountNotFound: "account_not_found",
  UsernameTaken: "username_taken",
  DonationNotFound: "donation_not_found",
  DonationTransitionRefused: "donation_transition_refused",
  PlatformEventNotFound: "platform_event_not_found",
  ApiKeyNotFound: "api_key_not_found",
  ApiKeyNotActive: "api_key_not_active",
  ApiKeyLimitReached: "api_key_limit_reached",
  ApiKeyCreatedRecently: "api_key_created_recently",
  EndpointNotFound: "endpoint_not_found",
  EndpointLimitReached: "endpoint_limit_reached",
  EndpointSwitchedOff: "endpoint_switched_off",
  TestLimitReached: "test_limit_reached",
  BulkRetryLimitReached: "bulk_retry_limit_reached",
  SecretRotationPending: "secret_rotation_pending",
  SecretRotationNotPending: "secret_rotation_not_pending",
  DeliveryNotFound: "delivery_not_found",
  DeliveryAlreadyDelivered: "delivery_already_delivered",
  DeliveryErased: "delivery_erased",
} as const;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/** A failure that the caller sees: its code, and a message without secrets and stored text. */
export class DomainError extends Error {
  override readonly name = "DomainError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The client's address or network is over its limit, or too many of its requests wait. */
export class ClientRefusedError extends DomainError {
  /** How many milliseconds the refusal lasts for all requests of this client. Undefined if unknown. */
  readonly refusedForMs: number | undefined;

  constructor(message: string, refusedForMs: number | undefined) {
    super(ErrorCode.RateLimitExceeded, message);
    this.refusedForMs = refusedForMs;
  }
}
