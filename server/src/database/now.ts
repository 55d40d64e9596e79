/** SQL for the database's clock: microseconds since 1970-01-01T00:00:00Z, in any session time zone. */
export const NOW_MICROS = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
