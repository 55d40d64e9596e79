import { enableCompileCache } from "node:module";

// From the second start on the compiled code is read instead of made, and what strips types from TypeScript
// stays out of memory: 18 MB. So it must be on before any TypeScript is loaded, this file included.
enableCompileCache();
await import("./run.ts");
