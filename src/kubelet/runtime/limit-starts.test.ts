import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cancelled } from '#base/errors.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { limitStarts } from './limit-starts.ts';

const { signal } = new AbortController();
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A runtime whose calls last until the test lets them go. */
function aSlowRuntime() {
  const underWay: { readonly name: string; readonly end: (failure?: Error) => void }[] = [];
  const slow = (name: string) => () =>
    new Promise((resolve, reject) => {
      underWay.push({ name, end: (failure) => (failure === undefined ? resolve(name) : reject(failure)) });
    });
  const calls = ['runPodSandbox', 'createContainer', 'startContainer', 'stopContainer'];
  const runtime = Object.fromEntries(calls.map((name) => [name, slow(name)])) as unknown as RuntimePort; // only these are called
  return { runtime, underWay, names: () => underWay.map(({ name }) => name) };
}

const sandbox = {} as Parameters<RuntimePort['runPodSandbox']>[0]; // passed on as it is

test('only so many starts are under way at once, the next begins when one ends or fails', async () => {
  const { runtime, underWay } = aSlowRuntime();
  const { runtime: limited, busy } = limitStarts(runtime, 2);
  const outcomes = Promise.allSettled([1, 2, 3, 4].map(() => limited.runPodSandbox(sandbox, '', signal)));
  await turn();
  assert.deepEqual([underWay.length, busy.get()], [2, true]);
  underWay[0]?.end();
  await turn();
  assert.equal(underWay.length, 3);
  underWay[1]?.end(new Error('no'));
  await turn();
  assert.equal(underWay.length, 4);
  underWay[2]?.end();
  underWay[3]?.end();
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  assert.equal(busy.get(), false);
});

test('a pod that has begun goes before one that has not', async () => {
  const { runtime, underWay, names } = aSlowRuntime();
  const { runtime: limited } = limitStarts(runtime, 1);
  const all = [limited.runPodSandbox(sandbox, '', signal), limited.runPodSandbox(sandbox, '', signal), limited.startContainer('c', signal)];
  for (let call = 0; call < 3; call++) {
    await turn();
    underWay[call]?.end();
  }
  await Promise.all(all);
  assert.deepEqual(names(), ['runPodSandbox', 'startContainer', 'runPodSandbox']);
});

test('a stop waits for nobody', async () => {
  const { runtime, names } = aSlowRuntime();
  const { runtime: limited } = limitStarts(runtime, 1);
  void limited.runPodSandbox(sandbox, '', signal);
  await turn();
  void limited.stopContainer('c', 0, signal);
  await turn();
  assert.deepEqual(names(), ['runPodSandbox', 'stopContainer']);
});

test('who waits can be cancelled, and takes no turn', async () => {
  const { runtime, underWay, names } = aSlowRuntime();
  const { runtime: limited } = limitStarts(runtime, 1);
  const cancel = new AbortController();
  const first = limited.runPodSandbox(sandbox, '', signal);
  const second = limited.runPodSandbox(sandbox, '', cancel.signal);
  const third = limited.createContainer('s', {} as Parameters<RuntimePort['createContainer']>[1], sandbox, signal); // passed on as it is
  cancel.abort();
  await assert.rejects(second, Cancelled);
  await turn();
  underWay[0]?.end();
  await first;
  await turn();
  underWay[1]?.end();
  await third;
  assert.deepEqual(names(), ['runPodSandbox', 'createContainer']);
});
