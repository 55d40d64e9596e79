import { format } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { VerificationError, type WebhookEvent } from "../../src/index.ts";
import type { Problem } from "../../src/receiver/problem.ts";
import type { ReceiverOptions } from "../../src/receiver/receiver-options.ts";
import { createMemoryStore } from "../../src/stores/memory/index.ts";
import { createDelivery, createRawDelivery, SECRET } from "../signed-delivery.ts";
import { post, postChunks } from "./http-client.ts";

const BODY_LIMIT_BYTES = 10_000;
const ENDLESS_BYTES = 50_000_000;

/** A running receiver. */
export interface Listening {
  readonly url: string;
  close(): Promise<unknown>;
}

/** Tests the guarantees of every adapter, in its real framework and over real HTTP. */
export function describeReceiver(
  name: string,
  listen: (options: ReceiverOptions<unknown>) => Promise<Listening>,
): void {
  describe(`the receiver in ${name}`, () => {
    const handle = vi.fn(async (_webhookEvent: WebhookEvent) => {});
    const onProblem = vi.fn((_problem: Problem): unknown => undefined);
    let receiver: Listening;
    beforeAll(async () => {
      const store = createMemoryStore();
      const bodyLimitBytes = BODY_LIMIT_BYTES;
      receiver = await listen({ secrets: SECRET, store, handle, bodyLimitBytes, onProblem });
    });
    afterAll(() => receiver.close());
    beforeEach(() => {
      handle.mockReset();
      onProblem.mockReset();
    });

    it.each([[undefined], [""], ["whsec_short"], [[]]])(
      "is not made without a usable secret: %j",
      async (secrets) => {
        const options = { secrets, store: createMemoryStore(), handle, onProblem };
        await expect(Promise.resolve(options).then(listen)).rejects.toThrow(VerificationError);
      },
    );

    /** Expects a delivery to be refused for `reason`, with 400 and no body. */
    async function expectRefused(reason: string, headers: object, body: Buffer) {
      expect(await post(receiver.url, { ...headers }, body)).toEqual({ status: 400, text: "" });
      const error = onProblem.mock.lastCall?.[0].error as VerificationError;
      expect(error.reason).toBe(reason);
      expect(handle).not.toHaveBeenCalled();
    }

    it("answers 204 to an event and to its repetition, and handles it once", async () => {
      const { body, headers, eventId } = await createDelivery();
      for (let attempt = 1; attempt <= 3; attempt++) {
        expect(await post(receiver.url, headers, body)).toEqual({ status: 204, text: "" });
      }
      expect(handle).toHaveBeenCalledTimes(1);
      expect(handle.mock.lastCall?.[0].id).toBe(eventId);
      expect(onProblem).not.toHaveBeenCalled();
    });

    it("verifies the received bytes, with any content type and in any chunks", async () => {
      for (const contentType of [
        "application/json; charset=utf-16",
        "text/plain",
        "x/y",
        undefined,
      ]) {
        const { body, headers } = await createDelivery();
        const { "Content-Type": _, ...others } = headers;
        const typed = contentType ? { ...others, "Content-Type": contentType } : others;
        const chunks = Array.from(body, (byte) => Buffer.of(byte));
        expect((await postChunks(receiver.url, typed, chunks)).status).toBe(204);
      }
      const spaced = await createRawDelivery(
        Buffer.from('{ "id":"wev_raw" ,"type":"x","created_at":"","test":true,"data":{} }\r\n'),
      );
      expect((await post(receiver.url, spaced.headers, spaced.body)).status).toBe(204);
    });

    it("handles an event of an unknown kind", async () => {
      const { body, headers } = await createDelivery({ type: "raid.started" });
      expect((await post(receiver.url, headers, body)).status).toBe(204);
      expect(handle.mock.lastCall?.[0].type).toBe("raid.started");
    });

    it("answers 400 without a body to a delivery that does not verify", async () => {
      const { body, headers } = await createDelivery();
      const forged = { ...headers, "Service-Signature": `v1=${"0".repeat(64)}` };
      await expectRefused("signature_mismatch", forged, body);
      await expectRefused("signature_mismatch", headers, Buffer.from(`${body} `));
      const { "Service-Signature": signature, ...unsigned } = headers;
      await expectRefused("missing_header", unsigned, body);
      const twice = { ...headers, "Service-Signature": [signature ?? "", signature ?? ""] };
      await expectRefused("repeated_header", twice, body);
      const stale = await createDelivery({}, { timestampSeconds: 1_700_000_000 });
      await expectRefused("timestamp_too_old", stale.headers, stale.body);
      const empty = await createRawDelivery(Buffer.alloc(0));
      await expectRefused("not_json", empty.headers, empty.body);
      const invalidUtf8 = await createRawDelivery(Buffer.from([0xff]));
      await expectRefused("not_json", invalidUtf8.headers, invalidUtf8.body);
    });

    it("does not decompress a body", async () => {
      const { body, headers } = await createDelivery();
      const packed = gzipSync(body);
      const { status } = await post(
        receiver.url,
        { ...headers, "Content-Encoding": "gzip" },
        packed,
      );
      expect([400, 413, 415]).toContain(status);
      expect(handle).not.toHaveBeenCalled();
    });

    it("answers 413 to a body over the limit, without reading all of it", async () => {
      const { headers } = await createDelivery();
      const announced = { ...headers, "Content-Length": 2 * ENDLESS_BYTES };
      expect((await postChunks(receiver.url, announced, endless())).status).toBe(413);
      expect((await postChunks(receiver.url, headers, endless())).status).toBe(413);
      expect(handle).not.toHaveBeenCalled();
      const large = await createDelivery({ more: "x".repeat(BODY_LIMIT_BYTES) });
      expect((await post(receiver.url, large.headers, large.body)).status).toBe(413);
      const fitting = await createDelivery({ more: "x".repeat(BODY_LIMIT_BYTES / 2) });
      expect((await post(receiver.url, fitting.headers, fitting.body)).status).toBe(204);
    });

    it("answers 500 if the work fails, and handles the next delivery", async () => {
      const { body, headers } = await createDelivery();
      // The work may verify a nested delivery.
      for (const error of [new Error("the work failed"), new VerificationError("not_json")]) {
        handle.mockRejectedValueOnce(error);
        expect(await post(receiver.url, headers, body)).toEqual({ status: 500, text: "" });
        expect(onProblem.mock.lastCall?.[0].error).toBe(error);
      }
      expect((await post(receiver.url, headers, body)).status).toBe(204);
    });

    it("answers the same if onProblem throws, or returns a promise that is rejected", async () => {
      const logged = vi.spyOn(console, "error").mockReturnValue();
      const failure = new Error("the log is full");
      const fail = () => {
        throw failure;
      };
      for (const failing of [fail, () => Promise.reject(failure)]) {
        const { headers } = await createDelivery();
        onProblem.mockImplementationOnce(failing);
        expect((await post(receiver.url, headers, Buffer.from("{}"))).status).toBe(400);
        await vi.waitFor(() => expect(logged).toHaveBeenCalledOnce());
        logged.mockClear();
      }
      logged.mockRestore();
    });

    it("logs an error's stack and its cause, but no other property, which can hold a supporter's data", async () => {
      const logged = vi.spyOn(console, "error").mockReturnValue();
      const cause = Object.assign(new Error("the row exists"), { detail: "confidential" });
      const error = Object.assign(new Error("the work failed", { cause }), { sql: "confidential" });
      for (const failing of [undefined, () => Promise.reject(error)]) {
        handle.mockRejectedValueOnce(error);
        const options = { secrets: SECRET, store: createMemoryStore(), handle };
        const other = await listen({ ...options, ...(failing && { onProblem: failing }) });
        const { body, headers } = await createDelivery();
        expect((await post(other.url, headers, body)).status).toBe(500);
        await vi.waitFor(() => expect(logged).toHaveBeenCalledOnce());
        const text = format(...(logged.mock.lastCall ?? []));
        expect(text).toMatch(
          /: Error: the work failed\n +at .*\n {2}cause: Error: the row exists\n +at /s,
        );
        expect(text).not.toContain("confidential");
        logged.mockClear();
        await other.close();
      }
      logged.mockRestore();
    });

    it("answers 503 while another delivery of the event is being handled", async () => {
      const { body, headers } = await createDelivery();
      let finish = () => {};
      handle.mockImplementationOnce(() => new Promise((resolve) => (finish = resolve)));
      const first = post(receiver.url, headers, body);
      await vi.waitFor(() => expect(handle).toHaveBeenCalled(), 15_000);
      expect((await post(receiver.url, headers, body)).status).toBe(503);
      finish();
      expect((await first).status).toBe(204);
    });
  });
}

function* endless(): Generator<Buffer> {
  for (let sent = 0; sent < ENDLESS_BYTES; sent += 16_384) yield Buffer.alloc(16_384, "x");
  throw new Error("the receiver read all of it");
}
