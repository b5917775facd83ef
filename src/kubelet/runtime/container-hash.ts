import type { Container } from '#api/types/core-v1.ts';

/** What of a container cannot change without a restart, as 32-bit FNV-1a in hex: its name and its image. */
export function containerHash(container: Pick<Container, 'name' | 'image'>): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify({ image: container.image ?? '', name: container.name }))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash.toString(16);
}
