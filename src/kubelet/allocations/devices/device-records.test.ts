import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerAllocateResponse } from '#wire/generated/device-plugin.ts';
import { DeviceRecordFile } from './device-records.ts';

const { signal } = new AbortController();

test('who has which device is read as it was written; a damaged record is known as such', async () => {
  let content: string | undefined;
  const files = {
    read: async () => (content === undefined ? undefined : Buffer.from(content)),
    async write(_path: string, text: Uint8Array | string) {
      content = String(text);
    },
  };
  const file = new DeviceRecordFile(files, '/plugins');
  assert.equal(await file.load(signal), undefined);
  const answer = ContainerAllocateResponse.fromPartial({ envs: { A: '1' }, cdiDevices: [{ name: 'vendor.com/gadget=a' }] });
  const record = {
    grants: [{ podUid: 'u', container: 'main', resource: 'example.com/gadget', devices: ['a', 'b'], answer }],
    registered: { 'example.com/gadget': ['a'] },
  };
  await file.save(record, signal);
  assert.deepEqual(await file.load(signal), record);
  content = content?.replace('"u"', '"v"');
  assert.equal(await file.load(signal), 'damaged');
});
