import type { WakeKey } from '#startup/transition.ts';

/** Where parts of the kubelet say that something pods may wait for has come (volume, image, network). */
export interface WakePort {
  signal(key: WakeKey): void;
}
