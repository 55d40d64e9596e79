import { appendFileSync } from "node:fs";
import { file, follow } from "../../feed/src/index.ts";

/** Follows until it is killed, and notes each record in a file: what a test kills and starts again. */
const [baseUrl, apiKey, checkpoint = "", notes = ""] = process.argv.slice(2);
const options = { apiKey, baseUrl, checkpoint: file(checkpoint), since: "2000-01-01T00:00:00Z" };
for await (const { id } of follow(options)) appendFileSync(notes, `${id}\n`);
