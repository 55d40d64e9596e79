import { enableCompileCache } from "node:module";

// `npm start` enables the compile cache too.
enableCompileCache();
await import("./one-process-run.ts");
