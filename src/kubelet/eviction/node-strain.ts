import { Cell } from '#base/watchable.ts';
import type { PressureType } from './signals.ts';

/** What the node suffers from, as those who decide here have it at once; others read it in the node's status. */
export interface NodeStrain {
  readonly pressures: Cell<readonly PressureType[]>;
  /** The host goes down. */
  readonly isShuttingDown: Cell<boolean>;
}

export function createNodeStrain(): NodeStrain {
  return { pressures: new Cell<readonly PressureType[]>([]), isShuttingDown: new Cell(false) };
}
