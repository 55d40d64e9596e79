import type { Reporter, TestModule } from "vitest/node";

const SHOWN = 10;

export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      name: module.relativeModuleId,
      seconds: module.diagnostic().duration / 1000,
    }));
    const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN);
    const lines = slowest.map(
      ({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`,
    );
    if (files.length > SHOWN) process.stderr.write(`\nThe slowest files:\n${lines.join("\n")}\n`);
  }
}
