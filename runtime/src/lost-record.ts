/**
 * The detail of an attempt, as its owner sees it, if a restore of the database has lost the attempt's record. ADR 0045
 */
export const LOST_RECORD_DETAIL =
  "recorded after the database was restored: the attempt's duration is not known";
