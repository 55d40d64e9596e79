import { randomUUID } from "node:crypto";
import Fastify from "fastify";
import mysql from "mysql2/promise";
import pino from "pino";
import { addActivityRoute } from "./activity-route.ts";
import { addAdmission } from "./admission.ts";
import { ApiError } from "./api-error.ts";
import { createLimits } from "./limits.ts";

const { DATABASE_URL = "", REDIS_URL, CURSOR_KEY = "", PORT = "0" } = process.env;
/** The size of the product's pool for reads. */
const CONNECTIONS = 10;

/*
 * The read API as a good engineer would write it in an afternoon with Fastify, mysql2 and rate-limiter-flexible. It
 * is the baseline for the product. It is tuned, and omits no part of the contract that costs time.
 */
const app = Fastify({
  trustProxy: "127.0.0.1",
  // Logs one line per request, buffered as in the product.
  logger: { stream: pino.destination({ sync: false, minLength: 4096 }) },
  disableRequestLogging: true,
  genReqId: () => randomUUID(),
  ajv: { customOptions: { removeAdditional: false } },
});
const pool = mysql.createPool({
  ...{ uri: DATABASE_URL, charset: "utf8mb4_bin", timezone: "Z", supportBigNumbers: true },
  ...{ connectionLimit: CONNECTIONS, maxPreparedStatements: 200 },
});
const limits = await createLimits(DATABASE_URL, REDIS_URL);

app.addHook("onSend", async ({ id }, reply) => {
  reply.headers({
    ...{ "x-request-id": id, "cache-control": "private, no-store" },
    "x-content-type-options": "nosniff",
  });
});
app.addHook("onResponse", async ({ method, routeOptions, log }, { statusCode, elapsedTime }) => {
  const ms = Math.round(elapsedTime * 10) / 10;
  log.info({ method, path: routeOptions.url, status: statusCode, ms }, "request");
});
app.addHook("onClose", async () => {
  await Promise.all([limits.close(), pool.end()]);
});
app.setErrorHandler((error: Error, request, reply) => {
  const { status, code, message } = ApiError.from(error);
  if (status === 500) request.log.error(error);
  if (status === 429 || status === 503) reply.header("retry-after", "60");
  if (status === 401) reply.header("www-authenticate", "Bearer");
  reply.code(status).send({ error: { code, message, request_id: request.id } });
});
app.setNotFoundHandler(() => {
  throw new ApiError(404, "not_found", "There is nothing at this path.");
});
addAdmission(app, pool, limits);
addActivityRoute(app, pool, Buffer.from(CURSOR_KEY, "hex"));

await app.listen({ host: "127.0.0.1", port: Number(PORT) });
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void app.close());
