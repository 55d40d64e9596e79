import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";

/** Profiles this thread from now on; returns what ends that and leaves the profile in a file. */
export async function startProfiler(file: string): Promise<() => Promise<void>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  return async () => {
    const { profile } = await session.post("Profiler.stop");
    writeFileSync(file, JSON.stringify(profile));
    session.disconnect();
  };
}
