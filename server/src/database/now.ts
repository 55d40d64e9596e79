/**
 * SQL for the database's clock: microseconds since 1970-01-01T00:00:00Z, in any session time zone. Every stored time is
 * such a BIGINT: no setting or rounding changes it. A person reads it with `FROM_UNIXTIME(recorded_at / 1e6)`.
 */
export const NOW_MICROS = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
