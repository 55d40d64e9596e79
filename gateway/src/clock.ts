/** Returns this machine's time as the `Date` header has it. RFC 9110 §6.6.1 */
export const httpDate = (): string => new Date().toUTCString();
