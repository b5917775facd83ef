import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcessServer, take } from '../testing/in-process-server.ts';
import { HistogramFamily, NumberFamily } from './families.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

test('a histogram counts upwards, and its numbers are cumulative', () => {
  const family = new HistogramFamily('h', 'help', ['verb'], [0.1, 1]);
  for (const seconds of [0.05, 0.1, 0.5, 7]) family.observe(['GET'], seconds);
  assert.deepEqual(
    family.samples().map(({ metricName, labels, value }) => [metricName, labels['le'], value]),
    [
      ['h_bucket', '0.1', 2],
      ['h_bucket', '1', 3],
      ['h_bucket', '+Inf', 4],
      ['h_sum', undefined, 7.65],
      ['h_count', undefined, 4],
    ],
  );
});

test('numbers are kept a set of labels', () => {
  const family = new NumberFamily('gauge', 'g', 'help', ['a', 'b']);
  family.add(['1', '2']);
  family.add(['1', '2'], 2);
  family.add(['1', ''], -1);
  assert.deepEqual(family.samples(), [
    { labels: { a: '1', b: '2' }, value: 3 },
    { labels: { a: '1', b: '' }, value: -1 },
  ]);
});

test('/metrics tells of requests and objects under upstream’s names', async () => {
  await using api = await inProcessServer();
  await api.call('POST', configMaps, { body: { metadata: { name: 'a' } } });
  await api.call('GET', `${configMaps}/none`);
  await api.call('POST', `${configMaps}?dryRun=All`, { body: { metadata: { name: 'b' } } });
  await api.call('GET', configMaps, { as: { name: 'jane' } });
  const stop = new AbortController();
  const watching = api.watch(`${configMaps}?watch=1`, stop.signal);
  await take(watching, 1);
  const { status, headers, body } = await api.call('GET', '/metrics');
  assert.deepEqual([status, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8']);
  const about = 'group="",version="v1",resource="configmaps",subresource="",';
  for (const line of [
    '# TYPE apiserver_request_total counter',
    `apiserver_request_total{verb="POST",${about}scope="namespace",component="apiserver",dry_run="",code="201"} 1`,
    `apiserver_request_total{verb="GET",${about}scope="resource",component="apiserver",dry_run="",code="404"} 1`,
    `apiserver_request_total{verb="POST",${about}scope="namespace",component="apiserver",dry_run="All",code="201"} 1`,
    '# TYPE apiserver_request_duration_seconds histogram',
    `apiserver_request_duration_seconds_count{verb="GET",${about}scope="resource",component="apiserver",dry_run=""} 1`,
    `apiserver_request_sli_duration_seconds_count{verb="GET",${about}scope="resource",component="apiserver",dry_run=""} 1`,
    `apiserver_longrunning_requests{verb="WATCH",${about}scope="namespace",component="apiserver"} 1`,
    'authorization_attempts_total{result="denied"} 1',
    'apiserver_current_inflight_requests{request_kind="readOnly"} 1',
    'apiserver_storage_objects{resource="configmaps"} 1',
    'apiserver_resource_objects{group="",resource="configmaps"} 1',
  ]) {
    assert.ok(
      body.split('\n').includes(line),
      `${line} in\n${body
        .split('\n')
        .filter((one: string) => one.startsWith(line.split('{')[0] ?? ''))
        .join('\n')}`,
    );
  }
  assert.match(body, /^process_cpu_seconds_total \d/m);
  stop.abort();
  await watching.return();
  const later = (await api.call('GET', '/metrics')).body;
  assert.ok(later.includes(`apiserver_longrunning_requests{verb="WATCH",${about}scope="namespace",component="apiserver"} 0`));
});

test('numbers are for those who may see them', async () => {
  await using api = await inProcessServer();
  assert.equal((await api.call('GET', '/metrics', { as: { name: 'jane' } })).status, 403);
});
