import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** Starts something before the first test of a file or group and stops it after the last. Use it only in between. */
export function useStarted<Thing extends { stop(): unknown }>(
  start: () => Promise<Thing>,
  startWithinMs?: number,
): Thing {
  let started: Thing | undefined;
  beforeAll(async () => {
    started = await start();
  }, startWithinMs);
  afterAll(() => started?.stop());
  const running = (): Thing => {
    if (started === undefined) throw new Error("it is started before the first test");
    return started;
  };
  // Every access goes to the started object.
  return new Proxy({} as Thing, {
    get: (_, name) => Reflect.get(running(), name),
    set: (_, name, value) => Reflect.set(running(), name, value),
    ownKeys: () => Reflect.ownKeys(running()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(running(), name),
  });
}

/** Creates a folder. It is removed after the tests of a file or group. */
export function useFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `activity-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
