/** A refusal that the client is told of. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** Turns any failure into one for clients. */
  static from(error: Error & { validation?: unknown; code?: string; sqlState?: string }): ApiError {
    if (error instanceof ApiError) return error;
    if (error.validation) return new ApiError(400, "invalid_parameter", error.message);
    // The driver's and the network's failures have codes but no SQL state.
    const isAway = error.code && !error.sqlState && /^(E[A-Z]+|PROTOCOL_)/.test(error.code);
    return isAway ? unavailable() : new ApiError(500, "internal_error", "An internal error.");
  }
}

/** The storage or the limiter is out of reach. */
export function unavailable(): ApiError {
  return new ApiError(503, "temporarily_unavailable", "The service is temporarily unavailable.");
}
