import { createSbom } from "./create-sbom.ts";

// Prints the CycloneDX document of what the product is made of.
//
//   node tools/release/sbom.ts

process.stdout.write(`${JSON.stringify(createSbom(), undefined, 2)}\n`);
