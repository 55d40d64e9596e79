import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// Without this line, the environment of a test would select React's development build.
process.env.NODE_ENV = "production";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  build: {
    target: "es2022",
    // The Content Security Policy forbids inlined assets, including `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark modules as client code for React's servers. Here no server renders, so the warning about these
      // marks means nothing.
      onLog: (level, log, print) => {
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") print(level, log);
      },
    },
  },
});
