import fc from "fast-check";
import { VerificationError, verify } from "../src/index.ts";
import { createDelivery, createRawDelivery, SECRET } from "../test/signed-delivery.ts";

const RUNS = Number(process.env.FUZZ_RUNS ?? 100_000);
const NOW_SECONDS = 1_767_225_600;
const options = { secrets: SECRET, clock: () => NOW_SECONDS * 1000 };

/** Passes any values as body, headers and secrets. */
async function throwsOnlyItsOwnError(): Promise<void> {
  const anyHeaders = fc.oneof(
    fc.anything({ withMap: true, withNullPrototype: true, withTypedArray: true }),
    fc.dictionary(
      fc.constantFrom("service-event-id", "Service-Timestamp", "SERVICE-SIGNATURE", "x"),
      fc.oneof(fc.string(), fc.constant(String(NOW_SECONDS)), fc.array(fc.string()), fc.anything()),
    ),
  );
  const anyBody = fc.oneof(
    fc.uint8Array(),
    fc.string({ unit: "binary" }),
    fc.anything({ withTypedArray: true }),
  );
  const anySecrets = fc.oneof(fc.constant(SECRET), fc.anything(), fc.array(fc.string()));
  const property = fc.asyncProperty(
    anyBody,
    anyHeaders,
    anySecrets,
    async (body, headers, secrets) => {
      await expectRefusal(body, headers, secrets);
    },
  );
  await fc.assert(property, { numRuns: RUNS });
}

/** Signs any bytes correctly. The result must be an event or the kit's own error. */
async function signedBytesAreEventsOrRefused(): Promise<void> {
  const anyBytes = fc.oneof(fc.uint8Array(), fc.json().map(Buffer.from));
  const property = fc.asyncProperty(
    anyBytes,
    fc.string({ unit: "binary" }),
    async (body, eventId) => {
      const attempt = { eventId, timestampSeconds: NOW_SECONDS };
      const { headers } = await createRawDelivery(Buffer.from(body), attempt);
      await expectRefusal(body, headers, SECRET);
    },
  );
  await fc.assert(property, { numRuns: RUNS });
}

/** Changes one byte of a good delivery at any place. */
async function noMutatedByteVerifies(): Promise<void> {
  const places = ["Service-Event-Id", "Service-Timestamp", "Service-Signature", "body", "secret"];
  const property = fc.asyncProperty(
    fc.string({ unit: "binary" }),
    fc.constantFrom(...places),
    fc.nat(),
    fc.integer({ min: 1, max: 255 }),
    async (message, place, position, mask) => {
      const data = { id: "1", message };
      const { body, headers } = await createDelivery({ data }, { timestampSeconds: NOW_SECONDS });
      await verify(body, headers, options);
      const mutate = (bytes: Uint8Array) => {
        const copy = Buffer.from(bytes);
        const index = position % copy.length;
        copy[index] = (copy[index] ?? 0) ^ mask;
        return copy;
      };
      if (place === "body") return expectRefusal(mutate(body), headers, SECRET);
      if (place === "secret") {
        return expectRefusal(body, headers, mutate(Buffer.from(SECRET)).toString("latin1"));
      }
      const value = mutate(Buffer.from(headers[place] ?? "")).toString("latin1");
      return expectRefusal(body, { ...headers, [place]: value }, SECRET);
    },
  );
  await fc.assert(property, { numRuns: RUNS });
}

async function expectRefusal(body: unknown, headers: unknown, secrets: unknown): Promise<void> {
  const untyped = verify as (...values: unknown[]) => Promise<unknown>;
  try {
    await untyped(body, headers, { ...options, secrets });
  } catch (error) {
    if (error instanceof VerificationError) return;
    throw error;
  }
  throw new Error("it verified");
}

for (const property of [
  throwsOnlyItsOwnError,
  signedBytesAreEventsOrRefused,
  noMutatedByteVerifies,
]) {
  const startedMs = performance.now();
  await property();
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${property.name}: ${RUNS} runs, ${seconds} s`);
}
