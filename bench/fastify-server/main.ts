import { createApp } from "./app.ts";

/** Runs the hand-written server until it is told to stop. */
async function main(): Promise<void> {
  const { DATABASE_URL = "", REDIS_URL, CURSOR_KEY = "", PORT = "0" } = process.env;
  const app = await createApp({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    cursorKey: Buffer.from(CURSOR_KEY, "hex"),
  });
  await app.listen({ host: "127.0.0.1", port: Number(PORT) });
  const stop = () => void app.close();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

await main();
