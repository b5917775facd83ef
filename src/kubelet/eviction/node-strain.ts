import { Cell } from '#base/watchable.ts';
import type { PressureType } from './signals.ts';

/** What the node is short of, as those who decide here have it at once; others read it in the node's status. */
export interface NodeStrain {
  readonly pressures: Cell<readonly PressureType[]>;
}

export function createNodeStrain(): NodeStrain {
  return { pressures: new Cell<readonly PressureType[]>([]) };
}
