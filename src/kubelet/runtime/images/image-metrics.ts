import { Counter, Histogram, type Registry } from 'prom-client';

/** What is counted about images, under upstream's names. */
export interface ImageMetrics {
  /** A container asked for its image. `undefined`: an error came before it was known. */
  ensured(policy: string, isPresent: boolean | undefined, mustPull: boolean | undefined): void;
  pulled(sizeBytes: number, tookMs: number): void;
  collected(reason: 'age' | 'space'): void;
}

const MB = 1e6;
/** Upper ends of the classes of sizes. */
const sizes: readonly (readonly [bytes: number, label: string])[] = [
  [10 * MB, '0-10MB'],
  [100 * MB, '10MB-100MB'],
  [500 * MB, '100MB-500MB'],
  [1000 * MB, '500MB-1GB'],
  [5000 * MB, '1GB-5GB'],
  [10_000 * MB, '5GB-10GB'],
  [20_000 * MB, '10GB-20GB'],
  [30_000 * MB, '20GB-30GB'],
  [40_000 * MB, '30GB-40GB'],
  [60_000 * MB, '40GB-60GB'],
  [100_000 * MB, '60GB-100GB'],
];

export function createImageMetrics(registry: Registry): ImageMetrics {
  const registers = [registry];
  const ensured = new Counter({
    name: 'kubelet_image_manager_ensure_image_requests_total',
    help: 'Number of ensure-image requests processed by the kubelet.',
    labelNames: ['pull_policy', 'present_locally', 'pull_required'],
    registers,
  });
  const pulled = new Histogram({
    name: 'kubelet_image_pull_duration_seconds',
    help: 'Duration in seconds to pull an image.',
    labelNames: ['image_size_in_bytes'],
    buckets: [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600],
    registers,
  });
  const collected = new Counter({
    name: 'kubelet_image_garbage_collected_total',
    help: 'Total number of images garbage collected by the kubelet, whether through disk usage or image age.',
    labelNames: ['reason'],
    registers,
  });
  return {
    ensured: (policy, isPresent, mustPull) =>
      ensured.inc({ pull_policy: policy.toLowerCase(), present_locally: word(isPresent), pull_required: word(mustPull) }),
    pulled: (sizeBytes, tookMs) => pulled.observe({ image_size_in_bytes: sizeLabel(sizeBytes) }, tookMs / 1000),
    collected: (reason) => collected.inc({ reason }),
  };
}

/** For tests, and for whoever counts nothing. */
export const noImageMetrics: ImageMetrics = { ensured: () => undefined, pulled: () => undefined, collected: () => undefined };

/** @param bytes 0: the runtime does not say */
export function sizeLabel(bytes: number): string {
  if (bytes === 0) return 'N/A';
  return sizes.find(([end]) => bytes < end)?.[1] ?? 'GT100GB';
}

function word(fact: boolean | undefined): string {
  return fact === undefined ? 'unknown' : String(fact);
}
