import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { exerciseChanges } from "./changes.ts";
import { exerciseClaims } from "./claims.ts";
import type { Subject } from "./subject.ts";

/**
 * Exercises all that dispatch asks of a store. The store in memory is worth believing because it passes what the one
 * on a database passes.
 */
export function exerciseDispatchStore(name: string, start: () => Promise<Subject>): void {
  describe(`the dispatch store ${name}`, () => {
    let subject: Subject;
    beforeAll(async () => {
      subject = await start();
    });
    beforeEach(() => subject.clear());
    afterAll(() => subject.stop());
    exerciseClaims(() => subject);
    exerciseChanges(() => subject);
  });
}
