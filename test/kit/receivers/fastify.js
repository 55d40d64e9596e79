import { readFileSync } from "node:fs";
import fastify from "fastify";
import { createFastifyReceiver } from "receiver-kit/fastify";
import { handle, store } from "./pg.js"; // as the README has it
import { beforeCommit } from "./points.js";

const app = fastify({
  https: {
    key: readFileSync(process.env.TLS_KEY_FILE),
    cert: readFileSync(process.env.TLS_CERT_FILE),
  },
});
app.register(
  createFastifyReceiver({
    url: "/webhooks",
    secrets: process.env.WEBHOOK_SECRET,
    store,
    async handle(event, context) {
      await handle(event, context);
      await beforeCommit(event);
    },
  }),
);
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
