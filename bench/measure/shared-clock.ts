const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1e6;

/** Returns milliseconds on a clock that all processes of this machine share, and that nobody sets. */
export function sharedNowMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * MS_PER_SECOND + nanoseconds / NS_PER_MS;
}
