import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { exerciseChanges } from "./changes.ts";
import { exerciseClaims } from "./claims.ts";
import type { Subject } from "./subject.ts";

/** Tests a dispatch store. The store in memory and the one on a database pass the same tests, so they behave alike. */
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
