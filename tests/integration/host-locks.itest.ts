import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { HostSockets } from '#cluster/ports/sockets.ts';
import { createHostSockets } from '#os/linux/host-sockets.ts';
import { processLocks } from '#os/portable/process-locks.ts';

const name = (what: string) => `\0kubernode-test/${process.pid}/${what}`;
const late = () => AbortSignal.timeout(10_000);

const adapters: Readonly<Record<string, { readonly locks: Pick<HostSockets, 'tryHold' | 'whenReleased' | 'isHeld'>; readonly module: string }>> = {
  'abstract sockets': { locks: createHostSockets(), module: '../../src/os/linux/host-sockets.ts' },
  'ports of the loopback address': { locks: processLocks, module: '../../src/os/portable/process-locks.ts' },
};

for (const [title, { locks, module }] of Object.entries(adapters)) {
  describe(`locks on ${title}`, () => {
    test('one holder at a time, and the next when it lets go', async () => {
      const held = await locks.tryHold(name('one'));
      assert.ok(held);
      assert.equal(await locks.tryHold(name('one')), undefined);
      assert.equal(await locks.isHeld(name('one')), true);
      const released = locks.whenReleased(name('one'), late());
      await held.close();
      await released;
      assert.equal(await locks.isHeld(name('one')), false);
      const again = await locks.tryHold(name('one'));
      assert.ok(again);
      await again.close();
    });

    test('of many that ask at once one gets it', async () => {
      const holders = await Promise.all(Array.from({ length: 10 }, () => locks.tryHold(name('race'))));
      const winners = holders.filter((holder) => holder !== undefined);
      assert.equal(winners.length, 1);
      await winners[0]?.close();
    });

    test('the death of a holder frees it', async () => {
      const url = fileURLToPath(new URL(module, import.meta.url));
      const hold = `const m = await import(${JSON.stringify(url)}); const locks = m.processLocks ?? m.createHostSockets();
        await locks.tryHold(${JSON.stringify(name('death'))}); process.stdout.write('held'); setInterval(() => {}, 1000);`;
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', hold], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      assert.equal(await locks.tryHold(name('death')), undefined);
      const released = locks.whenReleased(name('death'), late());
      child.kill('SIGKILL');
      await released;
      assert.equal(await locks.isHeld(name('death')), false);
    });

    test('who waits can be told to stop', async () => {
      const held = await locks.tryHold(name('wait'));
      const stop = new AbortController();
      const waiting = locks.whenReleased(name('wait'), stop.signal);
      stop.abort(new Error('enough'));
      await assert.rejects(waiting, /enough/);
      await held?.close();
    });
  });
}
