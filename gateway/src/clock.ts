/** Returns this machine's time in the form of the `Date` header. RFC 9110 §6.6.1 */
export const httpDate = (): string => new Date().toUTCString();
