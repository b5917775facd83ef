import type { FilesystemLayout } from '../ports/stats.ts';
import type { Signal } from './signals.ts';

export type Reclaim = 'containers' | 'images';

/** What the node can give up of its own where the signal looks, before any pod has to go; in order. */
export function reclaims(signal: Signal, layout: FilesystemLayout): readonly Reclaim[] {
  const filesystem = signal.split('.')[0];
  if (filesystem !== 'nodefs' && filesystem !== 'imagefs' && filesystem !== 'containerfs') return [];
  switch (layout) {
    case 'one':
      return ['containers', 'images'];
    case 'images-apart':
      return filesystem === 'nodefs' ? [] : ['containers', 'images'];
    case 'split':
      return filesystem === 'imagefs' ? ['images'] : ['containers'];
  }
}
