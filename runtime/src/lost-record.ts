/** What the owner is told of an attempt whose record a restored database has lost. ADR 0045 */
export const LOST_RECORD_DETAIL =
  "recorded after the database was restored: how long it took is not known";
