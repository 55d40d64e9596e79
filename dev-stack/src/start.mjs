import { enableCompileCache } from "node:module";

// From the second start on, Node reads compiled code, and its TypeScript compiler stays out of memory (18 MB). So
// this runs before any TypeScript is loaded, and this file is JavaScript.
enableCompileCache();
await import("./run.ts");
