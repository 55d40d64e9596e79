import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// node --import collect-here.ts FILE   runs FILE, which then collects its garbage at SIGUSR2

setFlagsFromString("--expose-gc");
const collect: (how: object) => void = runInNewContext("gc");
process.on("SIGUSR2", () => collect({ type: "major", flavor: "last-resort" }));
