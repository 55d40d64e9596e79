import { startDatabase } from "./database.ts";
import { silentProgress } from "./progress.ts";

/** Starts a database on the folder it is given, prints its URL and waits to be killed. */
const { url } = await startDatabase({
  env: process.env,
  dataDir: process.argv[2] ?? "",
  progress: silentProgress,
  ephemeral: true,
});
console.log(url);
setInterval(() => undefined, 60_000);
