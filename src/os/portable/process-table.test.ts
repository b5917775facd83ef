import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRow, portableProcesses } from './process-table.ts';

test('a row of ps is read, on macOS and on Linux', () => {
  const startTicks = Date.UTC(2026, 11, 2, 6, 37, 20) / 1000;
  const [mac] = parseRow('  501     1 Ss   Wed Dec  2 06:37:20 2026     node supervisor.js --name a');
  assert.deepEqual(mac, { pid: 501, parentPid: 1, startTicks, command: ['node', 'supervisor.js', '--name', 'a'] });
  const [linux] = parseRow('1 0 Ssl Wed Dec 2 06:37:20 2026 /sbin/init');
  assert.deepEqual(linux, { pid: 1, parentPid: 0, startTicks, command: ['/sbin/init'] });
});

test('the remains of a process, and what is no row, are nothing', () => {
  assert.deepEqual(parseRow('7 1 Z Wed Dec  2 06:37:20 2026 <defunct>'), []);
  assert.deepEqual(parseRow(''), []);
  assert.deepEqual(parseRow('7 1 S nonsense'), []);
});

test('two looks at one process are the same, a later one with its number is not', () => {
  const { isSame } = portableProcesses;
  assert.equal(isSame({ pid: 7, startTicks: 100 }, { pid: 7, startTicks: 101 }), true);
  assert.equal(isSame({ pid: 7, startTicks: 100 }, { pid: 7, startTicks: 110 }), false);
  assert.equal(isSame({ pid: 7, startTicks: 100 }, { pid: 8, startTicks: 100 }), false);
});
