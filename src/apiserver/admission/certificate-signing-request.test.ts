import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { inProcessServer } from '../testing/in-process-server.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const merge = { 'content-type': 'application/merge-patch+json' };
/** Of `O=walkers, CN=walker`. */
const request =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZE1JR0ZBZ0VBTUNNeEVEQU9CZ05WQkFvTUIzZGhiR3RsY25NeER6QU5CZ05WQkFNTUJuZGhiR3RsY2pCWgpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQUJEb2hsT0s4c3BwbTZOMlZWU00rM3VzTXI4ZVJ6WDhpCjRhYlF2ektMeS9Qc0FZLzBabWY3a3pZQ2lFc3l2SXVyQ0YyVHNSenpDWHRWWnhQMHZBTFFVRStnQURBS0JnZ3EKaGtqT1BRUURBZ05IQURCRUFpQTlQdTZ1NmZ5dXluOTVnSmJaN0VHNm80ZVljS2FIVjJneXRiSS9yTTlOWkFJZwpJRFdWYWZWVnd6R1g3c0hrRlJudFhudk5iUHhRNTUvZWQ2cEhhTDVlQ09jPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';
const body = {
  metadata: { name: 'a' },
  spec: { request, signerName: 'example.com/signer', usages: ['client auth'], username: 'mallory', groups: ['system:masters'] },
  status: { conditions: [{ type: 'Approved', status: 'True' }] },
};

test('a request says who asks, whatever its body says, and is not approved when it is made', async () => {
  await using api = await inProcessServer();
  const as = { name: 'admin', groups: ['system:masters'], uid: 'u-1', extra: { team: ['a'] } };
  const { status, body: made } = await api.call('POST', requests, { body, as });
  assert.equal(status, 201);
  const { request: _request, signerName: _signer, usages: _usages, ...requester } = made.spec;
  const groups = ['system:masters', 'system:authenticated'];
  assert.deepEqual(requester, { username: 'admin', uid: 'u-1', groups, extra: { team: ['a'] } });
  assert.deepEqual(made.status, {});
});

test('an approval changes the decision alone, with its time, and the other endpoints see it', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  await api.call('POST', requests, { body });
  const approve = { spec: { signerName: 'example.com/other' }, status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Ok' }] } };
  const { status, body: approved } = await api.call('PATCH', `${requests}/a/approval`, { body: approve, headers: merge });
  const [condition] = approved.status.conditions;
  assert.deepEqual([status, approved.spec.signerName, condition.reason], [200, 'example.com/signer', 'Ok']);
  assert.ok(condition.lastUpdateTime && condition.lastTransitionTime);
  const { body: read } = await api.call('GET', `${requests}/a/approval`);
  assert.deepEqual(read, approved);
  const refused = await api.call('PATCH', `${requests}/a/status`, { body: { status: { conditions: [] } }, headers: merge });
  assert.equal(
    refused.body.message,
    'CertificateSigningRequest.certificates.k8s.io "a" is invalid: status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  );
  const { body: kept } = await api.call('PATCH', `${requests}/a`, { body: { spec: { usages: [] }, status: null }, headers: merge });
  assert.deepEqual([kept.spec.usages, kept.status.conditions.length], [['client auth'], 1]);
});

test('what cannot be read as a request is refused', async () => {
  await using api = await inProcessServer();
  const broken = Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n').toString('base64');
  const { status, body: refusal } = await api.call('POST', requests, { body: { ...body, spec: { ...body.spec, request: broken } } });
  assert.deepEqual([status, refusal.details.causes[0].field], [422, 'spec.request']);
});
