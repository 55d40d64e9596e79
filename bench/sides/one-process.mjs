import { enableCompileCache } from "node:module";

// As `npm start` does.
enableCompileCache();
await import("./one-process-run.ts");
