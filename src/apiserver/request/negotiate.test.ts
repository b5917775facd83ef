import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clausesOf, documentOffer, negotiate, negotiateFailure, reviewOffer, watchOffer } from './negotiate.ts';

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

const protobuf = 'application/vnd.kubernetes.protobuf';

test('protobuf is for those who take nothing else in the form that they ask for', () => {
  assert.equal(formatOf(protobuf).encoding, 'protobuf');
  assert.equal(formatOf(`${protobuf}, application/yaml;q=0.1`).encoding, 'protobuf');
  assert.equal(formatOf(`${protobuf},application/json;q=0`).encoding, 'protobuf');
  assert.equal(formatOf(`${protobuf}, */*`).encoding, 'json');
  const metadata = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  assert.deepEqual(formatOf(`${protobuf};${metadata},application/json;${metadata},application/json`), { ...json, as: 'PartialObjectMetadata' });
  assert.deepEqual(formatOf(`${protobuf};${metadata},application/json`), { ...json, encoding: 'protobuf', as: 'PartialObjectMetadata' });
});

test('exact types go before wildcards of the same quality, a quality that cannot be read is 1', () => {
  assert.equal(formatOf('*/*, application/yaml').encoding, 'yaml');
  assert.equal(formatOf('application/*;q=0.9, application/yaml;q=0.8').encoding, 'json');
  assert.equal(formatOf('application/json;q=0.5, application/yaml;q=most').encoding, 'yaml');
  assert.deepEqual(
    clausesOf('a/b;q=0.1, */*, c/d, e/*').map(({ type, subtype }) => `${type}/${subtype}`),
    ['c/d', 'e/*', '*/*', 'a/b'],
  );
});

test('parameters: unknown ones are ignored, stream is watch, sv is v1', () => {
  assert.deepEqual(formatOf('application/json;charset=utf-8;foo=bar'), json);
  assert.deepEqual(formatOf('application/json;stream=watch'), json);
  assert.deepEqual(formatOf('application/json;sv=v1'), json);
  for (const refused of ['application/json;stream=log', 'application/json;sv=v2', 'application/yaml;stream=watch', 'application/json;as=Table']) {
    assert.throws(() => formatOf(refused), /only the following media types are accepted/, refused);
  }
});

test('each endpoint offers what it has', () => {
  const of = (accept: string, offer: typeof watchOffer) => negotiate({ accept }, new URLSearchParams(), offer);
  const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  assert.throws(
    () => of('application/yaml', watchOffer),
    /accepted: application\/json;stream=watch, application\/vnd\.kubernetes\.protobuf;stream=watch$/,
  );
  assert.throws(() => of(table, reviewOffer), /only the following media types are accepted/);
  assert.throws(
    () => of('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', documentOffer),
    /only the following media types are accepted/,
  );
  assert.equal(of(table, watchOffer).as, 'Table');
});

test('a failure is told in a form that the client reads, and in JSON when there is none', () => {
  const failureFor = (accept: string) => negotiateFailure({ accept }, new URLSearchParams());
  assert.deepEqual(failureFor('application/yaml'), { ...json, encoding: 'yaml' });
  assert.deepEqual(failureFor('text/html'), json);
  assert.deepEqual(failureFor('application/json;as=Table;g=meta.k8s.io;v=v1'), json);
});
