import { DomainError, ErrorCode } from "../common/errors.ts";

/** Returns the error for an endpoint that the account does not have. */
export function endpointNotFound(): DomainError {
  return new DomainError(
    ErrorCode.EndpointNotFound,
    "The account has no endpoint with this endpoint_id.",
  );
}

/** Returns the error for sending to an endpoint that is switched off. */
export function endpointSwitchedOff(): DomainError {
  return new DomainError(
    ErrorCode.EndpointSwitchedOff,
    "The endpoint is switched off, so nothing is sent to it; switch it on first.",
  );
}

/** Returns the error for sending a delivery to its deleted endpoint. */
export function endpointDeleted(): DomainError {
  return new DomainError(
    ErrorCode.EndpointSwitchedOff,
    "The delivery's endpoint is deleted, so nothing is sent to it.",
  );
}

/** Returns the error for a rotation while another one is pending, whose secret a receiver may have. */
export function rotationPending(): DomainError {
  return new DomainError(
    ErrorCode.SecretRotationPending,
    "A rotation of this endpoint's signing secret is pending until next_secret_signs_from. Wait until then, or call CancelRotation first.",
  );
}

/** Returns the error for canceling a rotation when none is pending. */
export function rotationNotPending(): DomainError {
  return new DomainError(
    ErrorCode.SecretRotationNotPending,
    "No rotation of this endpoint's signing secret is pending: the new secret already signs, or the rotation was canceled. To replace the secret again, call RotateSecret.",
  );
}

/** Returns the error for sending an event of a blocked account. */
export function accountBlocked(): DomainError {
  return new DomainError(
    ErrorCode.AccountUnavailable,
    "The account is blocked: nothing is sent until it is unblocked.",
  );
}
