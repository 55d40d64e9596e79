import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** What the tests of a file or group share: started before the first, stopped behind the last, used only between. */
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
  // Its members are those of what was started.
  return new Proxy({} as Thing, {
    get: (_, name) => Reflect.get(running(), name),
    set: (_, name, value) => Reflect.set(running(), name, value),
    ownKeys: () => Reflect.ownKeys(running()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(running(), name),
  });
}

/** Makes a folder that is removed behind the tests of a file or group. */
export function useFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `activity-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
