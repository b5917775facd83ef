import { describe } from 'node:test';
import type { OpenStorage } from './harness.ts';
import { historyContract } from './history.ts';
import { leaseContract } from './leases.ts';
import { modelContract } from './model.ts';
import { watchContract } from './watch.ts';
import { writeContract } from './writes.ts';

/** The suite that every `Storage` must pass. */
export function storageContract(name: string, open: OpenStorage): void {
  describe(`${name} is a storage`, () => {
    writeContract(open);
    historyContract(open);
    watchContract(open);
    leaseContract(open);
    modelContract(open);
  });
}
