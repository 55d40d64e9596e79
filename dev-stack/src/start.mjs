import module from "node:module";

// Older versions of Node parse this file too. It loads TypeScript only if Node can run TypeScript.
if (process.features.typescript) {
  // With the cache, Node reads compiled code from the second start on, and does not load its TypeScript compiler
  // (18 MB). The cache works only for later imports, so this file is JavaScript.
  module.enableCompileCache();
  await import("./run.ts").catch((error) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    refuse(`${error.message}: run npm install --include=dev --include=optional.`);
  });
} else {
  refuse(
    `This is Node ${process.version}, and npm installed no other one for this machine: install Node 24.`,
  );
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
}
