import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import express from "express";
import { createExpressReceiver } from "receiver-kit/express";
import { handle, store } from "./mysql2.js"; // the README's code
import { beforeCommit } from "./points.js";

const app = express();
app.post(
  "/webhooks", // above app.use(express.json())
  createExpressReceiver({
    secrets: process.env.WEBHOOK_SECRET,
    store,
    async handle(event, context) {
      await handle(event, context);
      await beforeCommit(event);
    },
  }),
);
app.use(express.json());
const tls = {
  key: readFileSync(process.env.TLS_KEY_FILE),
  cert: readFileSync(process.env.TLS_CERT_FILE),
};
createServer(tls, app).listen(process.env.PORT, "127.0.0.1");
