import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogLinks, logLinkName } from './log-links.ts';
import { UpkeepWorld } from './testing/upkeep-world.ts';

const directory = '/container-logs';

async function rig(t: { after(undo: () => Promise<void>): void }) {
  const upkeep = new UpkeepWorld();
  const { files, signal } = upkeep.world;
  const links = new LogLinks({ ...upkeep.removeDeps, files, directory, podLogs: '/pod-logs' });
  const abort = new AbortController();
  const ended = links.follow(abort.signal);
  t.after(async () => {
    abort.abort();
    await ended;
  });
  await links.lookAtAll(signal);
  const targets = async () => {
    const names = (await files.list(directory, signal)).map(({ name }) => name).sort();
    return await Promise.all(names.map(async (name) => [name, await files.readLink(`${directory}/${name}`, signal)]));
  };
  return { upkeep, links, targets, ...upkeep.world };
}

test('each container that was started has a link with upstream\u2019s name, as long as the runtime has it', async (t) => {
  const { upkeep, targets, memory, cache, signal, files } = await rig(t);
  const first = await upkeep.start();
  await cache.refreshContainer(first, signal);
  await upkeep.end(first);
  const second = await upkeep.start();
  await upkeep.end(second);
  assert.deepEqual(await targets(), [
    [`web_default_main-${first}.log`, '/pod-logs/default_web_uid-of-web/main/0.log'],
    [`web_default_main-${second}.log`, '/pod-logs/default_web_uid-of-web/main/1.log'],
  ]);
  assert.equal(new TextDecoder().decode(await files.read(`${directory}/web_default_main-${second}.log`, signal)), 'its words');
  await memory.removeContainer(first, signal);
  await cache.refreshContainer(first, signal);
  await upkeep.settle();
  assert.deepEqual(
    (await targets()).map(([name]) => name),
    [`web_default_main-${second}.log`],
  );
});

test('they are made beside the starts: none while containers are being started', async (t) => {
  const { upkeep, targets } = await rig(t);
  upkeep.busy.set(true);
  await upkeep.start();
  await upkeep.settle();
  assert.deepEqual(await targets(), []);
  upkeep.busy.set(false);
  await upkeep.settle();
  assert.equal((await targets()).length, 1);
});

test('a kubelet that comes back makes what is missing and removes what leads nowhere or belongs to nobody, but nothing of others', async (t) => {
  const { upkeep, links, targets, files, signal } = await rig(t);
  const id = await upkeep.start();
  await upkeep.settle();
  const own = `web_default_main-${id}.log`;
  await files.removeTree(`${directory}/${own}`, signal);
  await files.link('/pod-logs/default_old_uid-of-old/main/0.log', `${directory}/old_default_main-1.log`, signal);
  await files.link('/elsewhere/0.log', `${directory}/of-another-kubelet.log`, signal);
  await files.write(`${directory}/file`, '', 0o644, signal);
  await links.lookAtAll(signal);
  assert.deepEqual(
    (await targets()).map(([name]) => name),
    ['file', 'of-another-kubelet.log', own].sort(),
  );
  await files.removeTree(`${upkeep.logs}/0.log`, signal);
  await links.lookAtAll(signal);
  assert.deepEqual(
    (await targets()).map(([name]) => name),
    ['file', 'of-another-kubelet.log'],
  );
});

test('a name that is too long for a file is cut before its ending', () => {
  const name = logLinkName({ name: 'p'.repeat(253), namespace: 'ns' }, { name: 'main', id: 'f'.repeat(64) });
  assert.deepEqual([name.length, name.slice(248)], [255, 'p'.repeat(3).concat('.log').padStart(7, 'p')]);
});
