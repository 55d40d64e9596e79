import { enableCompileCache } from "node:module";

// As `npm start`.
enableCompileCache();
await import("./one-process-run.ts");
