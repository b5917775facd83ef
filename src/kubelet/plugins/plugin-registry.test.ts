import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Cell, waitFor } from '#base/watchable.ts';
import type { FileFacts } from '../ports/files.ts';
import { PluginRegistry } from './plugin-registry.ts';

/** A folder of sockets, each with what its plugin says of itself; `log` is what happened. */
function aRegistry() {
  const end = new AbortController();
  const clock = new FakeClock();
  const log = new Cell<readonly string[]>([]);
  const note = (line: string) => log.set([...log.get(), line]);
  const sockets = new Map<string, { type: string; name: string; madeAtMs: number }>();
  let wake: () => void = () => undefined;
  const facts = (modifiedAtMs: number): FileFacts => ({ kind: 'socket', mode: 0o600, uid: 0, gid: 0, sizeBytes: 0, modifiedAtMs });
  const registry = new PluginRegistry({
    files: {
      ensureDirectory: async () => undefined,
      list: async () => [...sockets.keys()].map((name) => ({ name, kind: 'socket' as const })),
      stat: async (path) => facts(sockets.get(path.slice('/registry/'.length))?.madeAtMs ?? 0),
    },
    folderWatch: {
      watch(_path, changed) {
        wake = changed;
        return () => undefined;
      },
    },
    sockets: {
      registration: (path) => ({
        async info() {
          const { type = '', name = '' } = sockets.get(path.slice('/registry/'.length)) ?? {};
          return { type, name, endpoint: '', supportedVersions: ['v1'] };
        },
        tell: async (problem) => note(`told ${problem === '' ? 'registered' : problem}`),
        close: () => undefined,
      }),
    },
    handlers: new Map([
      [
        'Kind',
        {
          validate: (name: string) => (name === 'bad' ? 'it is bad' : undefined),
          register: async (name: string, endpoint: string) => note(`register ${name} at ${endpoint}`),
          deregister: (name: string) => note(`deregister ${name}`),
        },
      ],
    ]),
    directory: '/registry',
    clock,
    logger: silentLogger,
  });
  const running = registry.run(end.signal);
  return {
    sockets,
    clock,
    change: () => wake(),
    logged: async (count: number) => (await waitFor(log, (lines) => lines.length >= count, end.signal)).slice(0, count),
    async stop() {
      end.abort();
      await running;
    },
  };
}

test('a socket that appears is a plugin, one that is made again another one, one that is gone takes its plugin along', async () => {
  const registry = aRegistry();
  registry.sockets.set('a.sock', { type: 'Kind', name: 'a', madeAtMs: 1 });
  registry.change();
  const first = ['register a at /registry/a.sock', 'told registered'];
  assert.deepEqual(await registry.logged(2), first);
  registry.sockets.set('a.sock', { type: 'Kind', name: 'a', madeAtMs: 2 });
  registry.change();
  assert.deepEqual(await registry.logged(5), [...first, 'deregister a', ...first]);
  registry.sockets.delete('a.sock');
  registry.change();
  assert.deepEqual((await registry.logged(6)).at(-1), 'deregister a');
  await registry.stop();
});

test('who is of no known type, or is refused by its handler, is told why', async () => {
  const registry = aRegistry();
  registry.sockets.set('x.sock', { type: 'Other', name: 'x', madeAtMs: 1 });
  registry.change();
  assert.deepEqual(await registry.logged(1), [
    'told RegisterPlugin error -- no handler registered for plugin type: Other at socket /registry/x.sock',
  ]);
  registry.sockets.clear();
  registry.sockets.set('b.sock', { type: 'Kind', name: 'bad', madeAtMs: 1 });
  registry.change();
  assert.equal((await registry.logged(2)).at(-1), 'told plugin validation failed with err: it is bad');
  await registry.stop();
});

test('sockets whose names start with a dot are nobody’s', async () => {
  const registry = aRegistry();
  registry.sockets.set('.hidden.sock', { type: 'Kind', name: 'hidden', madeAtMs: 1 });
  registry.sockets.set('seen.sock', { type: 'Kind', name: 'seen', madeAtMs: 1 });
  registry.change();
  assert.deepEqual(await registry.logged(2), ['register seen at /registry/seen.sock', 'told registered']);
  await registry.stop();
});
