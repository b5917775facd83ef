import assert from 'node:assert/strict';
import { test } from 'node:test';
import { negotiate } from './negotiate.ts';

const formatOf = (accept: string, query = '', agent = 'kubectl') => negotiate({ accept, 'user-agent': agent }, new URLSearchParams(query));
const json = { encoding: 'json', as: 'object', version: 'v1', isPretty: false };

test('without a wish the answer is JSON', () => {
  assert.deepEqual(formatOf(''), json);
  assert.deepEqual(formatOf('*/*'), json);
});

test('the first clause that can be met wins, the better quality first', () => {
  assert.deepEqual(formatOf('application/vnd.kubernetes.protobuf, application/json'), json);
  assert.deepEqual(formatOf('application/json;q=0.5, application/yaml'), { ...json, encoding: 'yaml' });
  assert.deepEqual(formatOf('application/json;as=Unknown;g=meta.k8s.io;v=v1, application/json'), json);
});

test('a table is asked for by kubectl in two versions', () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
  assert.deepEqual(formatOf(accept), { ...json, as: 'Table' });
});

test('a browser gets it indented unless it says otherwise', () => {
  assert.equal(formatOf('*/*', '', 'curl/8').isPretty, true);
  assert.equal(formatOf('*/*', 'pretty=false', 'curl/8').isPretty, false);
  assert.equal(formatOf('*/*', 'pretty=1').isPretty, true);
});

test('what cannot be written is refused', () => {
  assert.throws(() => formatOf('text/html'), /only the following media types are accepted: application\/json, application\/yaml/);
});
