import { DomainError, ErrorCode } from "../common/errors.ts";

/** Returns the failure of a call that names no endpoint of its account. */
export function endpointNotFound(): DomainError {
  return new DomainError(
    ErrorCode.EndpointNotFound,
    "The account has no endpoint with this endpoint_id.",
  );
}

/** Returns the failure of a call that would send to an endpoint that is switched off. */
export function endpointSwitchedOff(): DomainError {
  return new DomainError(
    ErrorCode.EndpointSwitchedOff,
    "The endpoint is switched off, so nothing is sent to it; switch it on first.",
  );
}

/** Returns the failure of a call that would send a delivery to its endpoint, which is deleted. */
export function endpointDeleted(): DomainError {
  return new DomainError(
    ErrorCode.EndpointSwitchedOff,
    "The delivery's endpoint is deleted, for good, so nothing is sent to it any more.",
  );
}

/** Returns the failure of a rotation while an earlier one is pending, whose secret a receiver may have. */
export function rotationPending(): DomainError {
  return new DomainError(
    ErrorCode.SecretRotationPending,
    "A rotation of this endpoint's signing secret is pending, from next_secret_signs_from on; wait until then, or undo it with CancelRotation first.",
  );
}

/** Returns the failure of a call that would undo a rotation where none is pending. */
export function rotationNotPending(): DomainError {
  return new DomainError(
    ErrorCode.SecretRotationNotPending,
    "No rotation of this endpoint's signing secret is pending: its moment has come and the new secret signs, or it was canceled. To replace the secret again, call RotateSecret.",
  );
}

/** Returns the failure of a call that would send something of a blocked account. */
export function accountBlocked(): DomainError {
  return new DomainError(
    ErrorCode.AccountUnavailable,
    "The account is blocked: nothing is sent until it is unblocked.",
  );
}
