/** What is known of an image on the node. */
export interface ImageRecord {
  readonly id: string;
  readonly sizeBytes: number;
  readonly isPinned: boolean;
  /** 0: it was there before the kubelet. */
  readonly firstDetectedMs: number;
  /** 0: nobody was seen to use it. */
  readonly lastUsedMs: number;
}

export interface SeenImage {
  readonly id: string;
  readonly sizeBytes: number;
  readonly isPinned: boolean;
  readonly isUsed: boolean;
}

/** The records after a look at the runtime. @param detectedMs what new images get */
export function updateRecords(
  known: ReadonlyMap<string, ImageRecord>,
  seen: readonly SeenImage[],
  detectedMs: number,
  nowMs: number,
): ReadonlyMap<string, ImageRecord> {
  return new Map(
    seen.map(({ id, sizeBytes, isPinned, isUsed }) => {
      const { firstDetectedMs = detectedMs, lastUsedMs = 0 } = known.get(id) ?? {};
      return [id, { id, sizeBytes, isPinned, firstDetectedMs, lastUsedMs: isUsed ? nowMs : lastUsedMs }];
    }),
  );
}

/** Images that may go, the one that was not used for longest first; what is in use was used now. */
export function removalOrder(records: Iterable<ImageRecord>, nowMs: number): readonly ImageRecord[] {
  return [...records]
    .filter(({ isPinned, lastUsedMs }) => !isPinned && lastUsedMs < nowMs)
    .sort((a, b) => a.lastUsedMs - b.lastUsedMs || a.firstDetectedMs - b.firstDetectedMs);
}

/** Unused for longer than that. Who was never seen in use counts from when it was seen first. */
export function isTooOld({ lastUsedMs, firstDetectedMs }: ImageRecord, maxAgeMs: number, nowMs: number): boolean {
  return nowMs - (lastUsedMs === 0 ? firstDetectedMs : lastUsedMs) > maxAgeMs;
}

export interface DiskUse {
  readonly capacityBytes: number;
  readonly availableBytes: number;
}

/** In whole percents, as upstream rounds. */
export function usagePercent({ capacityBytes, availableBytes }: DiskUse): number {
  return 100 - Math.floor((Math.min(availableBytes, capacityBytes) * 100) / capacityBytes);
}

/** @returns 0 when usage is below `high`; else what brings it down to `low` */
export function bytesToFree(use: DiskUse, thresholds: { readonly high: number; readonly low: number }): number {
  if (thresholds.high === 100 || usagePercent(use) < thresholds.high) return 0;
  return Math.max(0, Math.floor((use.capacityBytes * (100 - thresholds.low)) / 100) - Math.min(use.availableBytes, use.capacityBytes));
}

/** `9.8 GiB` */
export function binarySize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  const exponent = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** exponent;
  return `${exponent === 0 ? value : value.toFixed(1)} ${units[exponent]}`;
}
