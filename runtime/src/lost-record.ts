/** The detail that the owner sees of an attempt whose record a restored database has lost. ADR 0045 */
export const LOST_RECORD_DETAIL =
  "recorded after the database was restored: the attempt's duration is not known";
