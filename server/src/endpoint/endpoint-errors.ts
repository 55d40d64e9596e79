import { DomainError, ErrorCode } from "../errors.ts";

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

/** Returns the failure of a call that would send something of a blocked account. */
export function accountBlocked(): DomainError {
  return new DomainError(
    ErrorCode.AccountUnavailable,
    "The account is blocked: nothing is sent until it is unblocked.",
  );
}
