import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { storageContract } from '#store/contracts/storage.ts';
import { openSqliteStorage } from '#store/sqlite/sqlite-storage.ts';

storageContract('SQLite', async () => {
  const clock = new FakeClock();
  const folder = await mkdtemp(join(tmpdir(), 'kubernode-store-'));
  return {
    storage: await openSqliteStorage({ file: join(folder, 'store.db'), clock, logger: silentLogger }),
    passTime: (ms) => clock.advance(ms),
    dispose: () => rm(folder, { recursive: true }),
  };
});
