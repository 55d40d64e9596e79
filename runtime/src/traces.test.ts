import { expect, it } from "vitest";
import { problemsOf } from "../../test/harness/problems.ts";
import { readTraceConfig } from "./traces.ts";

const endpoint = "http://127.0.0.1:4318";

const read = (env: Record<string, string>) =>
  problemsOf((problem) => readTraceConfig(env, problem));

it("traces nothing without an endpoint", () => {
  const { value, problems } = read({ OTEL_TRACES_SAMPLER_ARG: "1" });
  expect([value, problems]).toEqual([undefined, []]);
});

it.each([
  [undefined, 0.01],
  ["0", 0],
  ["1", 1],
  ["1.0", 1],
  ["0.25", 0.25],
  ["0.0123456789", 0.0123456789],
])("samples the part of traces in OTEL_TRACES_SAMPLER_ARG: %s", (arg, ratio) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/` };
  const { value, problems } = read(
    arg === undefined ? env : { ...env, OTEL_TRACES_SAMPLER_ARG: arg },
  );
  expect(value).toEqual({ endpoint, ratio, serviceName: undefined });
  expect(problems).toEqual([]);
});

it("takes only a URL to which a path can be appended", () => {
  const of = (text: string) => read({ OTEL_EXPORTER_OTLP_ENDPOINT: text });
  expect(of(`${endpoint}/otlp/ `).value?.endpoint).toBe(`${endpoint}/otlp`);
  for (const end of ["?", "?a=b", "#", "#a"]) {
    expect(of(`${endpoint}/${end}`).problems).toEqual([
      expect.stringMatching(/^OTEL_EXPORTER_OTLP_ENDPOINT must be .* without query or fragment/),
    ]);
  }
});

it("names each wrong variable, and no value", () => {
  const { problems } = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: "geheim",
    OTEL_TRACES_SAMPLER: "geheim",
    OTEL_TRACES_SAMPLER_ARG: "1.5",
  });
  expect(problems).toEqual([
    "OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// URL without query or fragment.",
    "OTEL_TRACES_SAMPLER must be parentbased_traceidratio.",
    "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1 in decimal digits, such as 0.01.",
  ]);
});
