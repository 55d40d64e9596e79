import mysql, { type TypedParameterValue } from "mysql2/promise";

type Value = string | number | Buffer | null;

/**
 * Returns the values of a prepared statement, with numbers as integers. A vtgate finds an account's shard by the
 * text of its number. The driver would send a DOUBLE, which a vtgate writes as 1.8e15. ADR 0048
 */
export function prepared(values: readonly Value[]): (Value | TypedParameterValue)[] {
  return values.map((value) =>
    typeof value === "number" ? mysql.TypedParameter.BIGINT(value) : value,
  );
}
