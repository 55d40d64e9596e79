import mysql, { type TypedParameterValue } from "mysql2/promise";

/** A value of a prepared statement. */
type Value = string | number | Buffer | null;

/**
 * Returns the values of a prepared statement, with numbers as integers. The driver would send
 * DOUBLE, which reads 1.8e15 to a vtgate, and a vtgate finds an account's shard by how its number
 * is written. ADR 0048
 */
export function prepared(values: readonly Value[]): (Value | TypedParameterValue)[] {
  return values.map((value) =>
    typeof value === "number" ? mysql.TypedParameter.BIGINT(value) : value,
  );
}
