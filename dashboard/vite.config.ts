import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const WITHOUT_VALIDATION = fileURLToPath(
  new URL("src/common/without-validation.ts", import.meta.url),
);

// Also where a test builds it, whose environment would have React's development build taken.
process.env.NODE_ENV = "production";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  resolve: {
    // The rules of validation are the server's, and their descriptor is a third of what browsers would load.
    alias: [{ find: /^.*\/buf\/validate\/validate_pb\.ts$/, replacement: WITHOUT_VALIDATION }],
  },
  build: {
    target: "es2022",
    // The Content Security Policy lets nothing in that is written inline, data: included.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark what React's servers may not render; nothing is rendered there.
      onLog: (level, log, print) => {
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") print(level, log);
      },
    },
  },
});
