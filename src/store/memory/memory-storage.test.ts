import { FakeClock } from '#base/testing/fake-clock.ts';
import { storageContract } from '../contracts/storage.ts';
import { createMemoryStorage } from './memory-storage.ts';

storageContract('memory', async () => {
  const clock = new FakeClock();
  return { storage: createMemoryStorage(clock), passTime: (ms) => clock.advance(ms), dispose: async () => undefined };
});
