import { request } from "node:https";
import { afterEach, expect, it, vi } from "vitest";
import { signedHeaders } from "../../receiver-kit/src/index.ts";
import { startDemoReceiver } from "./demo-receiver.ts";

const SECRET = `whsec_${Buffer.alloc(32).toString("base64")}`;

afterEach(() => {
  vi.restoreAllMocks();
});

it("a supporter's text does not change the terminal that the demo receiver prints to", async () => {
  const printed: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  const { port, certificate: ca, stop } = await startDemoReceiver(undefined, async () => SECRET);
  const id = "wev_000000000000001";
  const data = { text: "\u001b[2J\u009b2J\u202e" };
  const event = { id, type: "x", created_at: "", test: false, data };
  const body = JSON.stringify(event);
  const attempt = { secret: SECRET, eventId: id, body };
  const headers = await signedHeaders({
    ...attempt,
    timestampSeconds: Math.floor(Date.now() / 1_000),
  });
  const status = await new Promise((resolve, reject) => {
    request({ port, ca, headers, host: "127.0.0.1", method: "POST" }, (response) =>
      resolve(response.resume().statusCode),
    )
      .on("error", reject)
      .end(body);
  });
  await stop();
  expect(status).toBe(204);
  const escaped = body.replace("\u009b", "\\u009b").replace("\u202e", "\\u202e");
  expect(printed).toEqual([`Webhook event  ${escaped}\n`]);
});
