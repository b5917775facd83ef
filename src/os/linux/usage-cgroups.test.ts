import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disksV1, disksV2 } from './usage-cgroups.ts';

const reading = (files: Readonly<Record<string, string>>) => (file: string) => files[file];

test('version 1 tells operations line by line, in the files of whoever counts', () => {
  const bytes = '8:0 Read 4096\n8:0 Write 512\n8:0 Sync 4608\n8:0 Async 0\n8:0 Total 4608\n253:0 Read 1\nTotal 4609\n';
  const times = '8:0 Read 1\n8:0 Write 2\n253:0 Read 1\nTotal 4\n';
  const disks = [
    { number: '8:0', readBytes: 4096, writtenBytes: 512, reads: 1, writes: 2 },
    { number: '253:0', readBytes: 1, writtenBytes: 0, reads: 1, writes: 0 },
  ];
  assert.deepEqual(disksV1(reading({ 'blkio.throttle.io_service_bytes': bytes, 'blkio.throttle.io_serviced': times })), disks);
  const empty = { 'blkio.throttle.io_service_bytes_recursive': 'Total 0\n', 'blkio.throttle.io_serviced_recursive': 'Total 0\n' };
  const bfq = { 'blkio.bfq.io_service_bytes_recursive': bytes, 'blkio.bfq.io_serviced_recursive': times };
  assert.deepEqual(disksV1(reading({ ...empty, ...bfq })), disks);
  assert.deepEqual(disksV1(reading(empty)), []);
});

test('version 2 tells a line a disk', () => {
  const text = '8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n8:0 rbytes=90430464 wbytes=0 rios=8950 wios=0\n259:0\n';
  assert.deepEqual(disksV2(reading({ 'io.stat': text })), [
    { number: '8:16', readBytes: 1_459_200, writtenBytes: 314_773_504, reads: 192, writes: 353 },
    { number: '8:0', readBytes: 90_430_464, writtenBytes: 0, reads: 8950, writes: 0 },
  ]);
  assert.deepEqual(disksV2(reading({})), []);
});
