/** The detail that an owner sees of an attempt that the database lost in a restore. ADR 0045 */
export const LOST_RECORD_DETAIL =
  "recorded after the database was restored: the attempt's duration is not known";
