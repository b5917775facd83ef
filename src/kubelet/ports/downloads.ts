/** A part of an image that is on its way. */
export interface Download {
  /** `layer-sha256:...`; other parts begin with another word. */
  readonly ref: string;
  readonly bytes: number;
  /** 0: not known. */
  readonly totalBytes: number;
  /** When the last bytes came; epoch. */
  readonly updatedAtMs: number;
}

/** What the runtime downloads, all pulls together. */
export interface DownloadsPort {
  /** @returns `undefined` from a runtime that does not tell */
  downloads(signal: AbortSignal): Promise<readonly Download[] | undefined>;
}
