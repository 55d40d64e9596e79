/** A refusal with an answer for the client. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** Converts any failure to an error that a client may see. */
  static from(error: Error & { validation?: unknown; code?: string; sqlState?: string }): ApiError {
    if (error instanceof ApiError) return error;
    if (error.validation) return new ApiError(400, "invalid_parameter", error.message);
    // Failures of the driver and of the network have a code but no SQL state.
    const isAway = error.code && !error.sqlState && /^(E[A-Z]+|PROTOCOL_)/.test(error.code);
    return isAway ? unavailable() : new ApiError(500, "internal_error", "An internal error.");
  }
}

/** Returns the refusal while the storage or the limiter is unreachable. */
export function unavailable(): ApiError {
  return new ApiError(503, "temporarily_unavailable", "The service is temporarily unavailable.");
}
