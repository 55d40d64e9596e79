import { createSbom } from "./create-sbom.ts";

// Prints the product's bill of materials in CycloneDX.
//
//   node tools/release/sbom.ts

process.stdout.write(`${JSON.stringify(createSbom(), undefined, 2)}\n`);
