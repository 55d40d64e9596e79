import { enableCompileCache } from "node:module";

// `npm start` enables it too.
enableCompileCache();
await import("./one-process-run.ts");
