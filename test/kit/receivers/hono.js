import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createFetchReceiver } from "receiver-kit/fetch";
import { beforeCommit } from "./points.js";
import { handle, store } from "./sqlite.js"; // as the README has it

const receive = createFetchReceiver({
  secrets: process.env.WEBHOOK_SECRET,
  store,
  async handle(event, context) {
    await handle(event, context);
    await beforeCommit(event);
  },
});
const app = new Hono();
app.post("/webhooks", (context) => receive(context.req.raw));
serve({
  fetch: app.fetch,
  port: Number(process.env.PORT),
  hostname: "127.0.0.1",
  createServer,
  serverOptions: {
    key: readFileSync(process.env.TLS_KEY_FILE),
    cert: readFileSync(process.env.TLS_CERT_FILE),
  },
});
