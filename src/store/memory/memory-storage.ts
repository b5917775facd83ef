import type { Clock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { LogStorage } from '../log/log-storage.ts';
import type { Storage } from '../storage.ts';
import { MemoryLog } from './memory-log.ts';

/** A store that is gone with its process: for tests, and for clusters that need not outlive it. */
export function createMemoryStorage(clock: Clock): Storage {
  return new LogStorage(new MemoryLog(), clock, silentLogger);
}
