/** How the product is laid out over processes. */
export const LayoutName = {
  OneProcess: "one-process",
  OwnProcess: "own-process",
} as const;
export type LayoutName = (typeof LayoutName)[keyof typeof LayoutName];

/** For people. */
export const LAYOUT_LABELS: Readonly<Record<LayoutName, string>> = {
  [LayoutName.OneProcess]: "one process",
  [LayoutName.OwnProcess]: "deliveries in a process of their own",
};

/** The product, running and delivering. */
export type RunningLayout = {
  readonly corePort: number;
  /** All processes of the product. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
};

/** What the product is started with. */
export type LayoutOptions = {
  /** As `npm start` configures the core and the deliveries. */
  readonly env: Readonly<Record<string, string>>;
  readonly credential: string;
  /** The receiver's certificate (PEM), as a text and in a file. */
  readonly receiverCa: string;
  readonly receiverCaFile: string;
  readonly logFile: string;
};
