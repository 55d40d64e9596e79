import module from "node:module";

// Older versions of Node parse this file, so it checks the version before it loads TypeScript.
if (process.features.typescript) {
  // From the second start on, Node reads compiled code, and its TypeScript compiler stays out of memory (18 MB). So
  // this runs before any TypeScript is loaded, and this file is JavaScript.
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
