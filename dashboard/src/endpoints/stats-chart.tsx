import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { LOCALE, texts } from "../texts.ts";
import type { Spans } from "./hours.ts";
import styles from "./stats-chart.module.css";

const HEIGHT = 180;

/** Draws attempts over time: all of them in the colour of success, those that failed over it from the ground up. */
export function StatsChart({ spans, label }: { spans: Spans; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const good = useRef<HTMLSpanElement>(null);
  const bad = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!box.current || !good.current || !bad.current) return;
    const container = box.current;
    const colors = { good: good.current, bad: bad.current };
    let chart = draw(container, spans, colors);
    const redraw = () => {
      chart.destroy();
      chart = draw(container, spans, colors);
    };
    const resized = new ResizeObserver(() =>
      chart.setSize({ width: container.clientWidth, height: HEIGHT }),
    );
    resized.observe(container);
    // A canvas does not follow the colours of the page by itself.
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", redraw);
    const theme = new MutationObserver(redraw);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      theme.disconnect();
      scheme.removeEventListener("change", redraw);
      resized.disconnect();
      chart.destroy();
    };
  }, [spans]);
  return (
    <figure className={styles.figure}>
      <div ref={box} role="img" aria-label={label} className={styles.chart} />
      <figcaption className={styles.legend}>
        <span ref={good} className={styles.good}>
          {texts.endpoints.delivered}
        </span>
        <span ref={bad} className={styles.bad}>
          {texts.endpoints.failed}
        </span>
      </figcaption>
    </figure>
  );
}

function draw(
  container: HTMLElement,
  { begins, all, failed }: Spans,
  colors: { good: Element; bad: Element },
): uPlot {
  const text = getComputedStyle(container).color;
  const line = getComputedStyle(container).borderTopColor;
  const [first = 0, second = 0] = begins;
  const spanSeconds = second - first;
  const bars = uPlot.paths.bars?.({ size: [0.7, 32], radius: 0.15 });
  const series = (element: Element): uPlot.Series => ({
    fill: getComputedStyle(element).color,
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  });
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return new uPlot(
    {
      width: container.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        // Half a bar more at either end.
        x: { range: (_, min, max) => [min - spanSeconds / 2, max + spanSeconds / 2] },
        y: { range: (_, __, max) => [0, Math.max(max, 1)] },
      },
      axes: [
        { ...axis, grid: { show: false }, size: 28, values: labels },
        { ...axis, size: 40, incrs: WHOLE },
      ],
      series: [{}, series(colors.good), series(colors.bad)],
    },
    [begins, all, failed],
    container,
  );
}

const TIMES = new Intl.DateTimeFormat(LOCALE, { timeStyle: "short" });
const DAYS = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
const DAY_SECONDS = 86_400;

/** Writes the time below an axis, or the day where days are apart. */
function labels(_: uPlot, splits: number[], __: number, ___: number, seconds: number): string[] {
  const format = seconds < DAY_SECONDS ? TIMES : DAYS;
  return splits.map((split) => format.format(split * 1_000));
}

/** Nobody makes half an attempt. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000];
