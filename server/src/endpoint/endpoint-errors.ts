import { DomainError, ErrorCode } from "../errors.ts";

/** Returns the failure of a call that names no endpoint of its account. */
export function endpointNotFound(): DomainError {
  return new DomainError(
    ErrorCode.EndpointNotFound,
    "The account has no endpoint with this endpoint_id.",
  );
}

/** Returns the failure of a call that would send to an endpoint that is switched off or deleted. */
export function endpointSwitchedOff(): DomainError {
  return new DomainError(
    ErrorCode.EndpointSwitchedOff,
    "The endpoint is switched off or deleted, so nothing is sent to it; switch it on first.",
  );
}
