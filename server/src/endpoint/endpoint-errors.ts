import { DomainError, ErrorCode } from "../common/errors.ts";

export function endpointNotFound(): DomainError {
  return new DomainError(
    ErrorCode.EndpointNotFound,
    "The account has no endpoint with this endpoint_id.",
  );
}

export function endpointSwitchedOff(): DomainError {
  return new DomainError(
    ErrorCode.EndpointSwitchedOff,
    "The endpoint is switched off, so nothing is sent to it; switch it on first.",
  );
}

export function endpointDeleted(): DomainError {
  return new DomainError(
    ErrorCode.EndpointNotFound,
    "The delivery's endpoint is deleted, so nothing is sent to it. This delivery cannot be sent again.",
  );
}

/** A second rotation is refused, because a receiver may already have the secret of the pending one. */
export function rotationPending(): DomainError {
  return new DomainError(
    ErrorCode.SecretRotationPending,
    "A rotation of this endpoint's signing secret is pending until next_secret_signs_from. If you do not have its secret, call CancelRotation. Otherwise wait until then, or call CancelRotation first.",
  );
}

export function rotationNotPending(): DomainError {
  return new DomainError(
    ErrorCode.SecretRotationNotPending,
    "No rotation of this endpoint's signing secret is pending: the new secret already signs, or the rotation was canceled. To replace the secret again, call RotateSecret.",
  );
}

export function accountBlocked(): DomainError {
  return new DomainError(
    ErrorCode.AccountUnavailable,
    "The account is blocked: nothing is sent until it is unblocked.",
  );
}
