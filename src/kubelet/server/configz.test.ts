import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { shownConfiguration } from './configz.ts';

test('what is shown can be read again, so no duration is forgotten', () => {
  const given = { syncFrequency: '90s', crashLoopBackOff: { maxContainerRestartPeriod: '10s' }, evictionHard: { 'memory.available': '1Gi' } };
  const configuration = parseKubeletConfiguration(given, 'test');
  const shown: Record<string, unknown> = { ...(shownConfiguration(configuration) as object) };
  assert.deepEqual(parseKubeletConfiguration(JSON.parse(JSON.stringify(shown)), 'shown'), configuration);
  assert.deepEqual([shown['syncFrequency'], shown['crashLoopBackOff']], ['1m30s', { maxContainerRestartPeriod: '10s' }]);
});
