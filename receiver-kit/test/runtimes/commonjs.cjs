const kit = require("receiver-kit");
const fetchAdapter = require("receiver-kit/fetch");
const memory = require("receiver-kit/memory");
const { vectors } = require("receiver-kit/vectors.json");

(async () => {
  const { checkCore } = await import("./check-core.mjs");
  const checked = await checkCore({ kit, memory, fetchAdapter, vectors });
  const other = await import("receiver-kit");
  if (other.VerificationError === kit.VerificationError) throw new Error("not two builds");
  if (!(new other.VerificationError("not_json") instanceof kit.VerificationError)) {
    throw new Error("an error of the ES module build is none of the CommonJS build");
  }
  console.log(`${checked}, instanceof across both builds`);
})();
