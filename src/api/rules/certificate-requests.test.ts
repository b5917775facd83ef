import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { certificateSigningRequest as kind } from '#api/kinds/certificates/v1/certificate-signing-request.ts';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '#api/types/certificates-v1.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const pem = base64('-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n');
const certificate = base64('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
function aRequest(spec: object = {}, status: object = {}): CertificateSigningRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' },
    spec: { request: pem, signerName: 'example.com/signer', usages: ['client auth'], ...spec },
    status,
  };
}
const condition = (type: string, more: object = {}): CertificateSigningRequestCondition => ({ type, status: 'True', ...more });
const texts = (problems: ReturnType<typeof kind.validate>) => problems.map(problemText);

test('a request holds a request, says for what, for whom and for how long', () => {
  assert.deepEqual(texts(kind.validate(aRequest())), []);
  assert.deepEqual(texts(kind.validate(aRequest({ request: base64('x'), usages: [], signerName: 'example.com', expirationSeconds: 599 }))), [
    `spec.request: Invalid value: "${base64('x')}": PEM block type must be CERTIFICATE REQUEST`,
    'spec.usages: Required value',
    `spec.signerName: Invalid value: "example.com": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
  ]);
  const [unknown, repeated, legacy] = texts(kind.validate(aRequest({ usages: ['odd', 'any', 'any'], signerName: 'kubernetes.io/legacy-unknown' })));
  assert.match(unknown ?? '', /^spec\.usages\[0\]: Unsupported value: "odd": supported values: "any", "cert sign", .*"timestamping"$/);
  assert.equal(repeated, 'spec.usages[2]: Duplicate value: "any"');
  assert.equal(legacy, 'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version');
  const [label, segments] = texts(kind.validate(aRequest({ signerName: 'UP/x' })));
  assert.match(label ?? '', /^spec\.signerName: Invalid value: "UP": validating label "UP": a lowercase RFC 1123 label must /);
  assert.equal(segments, 'spec.signerName: Invalid value: "UP": should be a domain with at least two segments separated by dots');
});

test('a request keeps its spec and gets its status through the other endpoints only', () => {
  const next = aRequest({ signerName: 'example.com/other' }, { conditions: [condition('Approved')] });
  const kept = kind.prepareUpdate(next, aRequest());
  assert.deepEqual([kept.spec.signerName, kept.status], ['example.com/signer', {}]);
  assert.deepEqual(kind.prepareCreate(next).status, {});
});

test('only /approval decides, only /status signs, and neither takes anything back', () => {
  const approved = aRequest({}, { conditions: [condition('Approved')] });
  const signed = aRequest({}, { conditions: [condition('Approved')], certificate });
  const approval = kind.partialUpdates.approval;
  assert.ok(approval);
  assert.deepEqual(texts(approval.validate(approved, aRequest())), []);
  assert.deepEqual(texts(kind.validateStatusUpdate(approved, aRequest())), [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ]);
  assert.deepEqual(texts(kind.validateStatusUpdate(signed, approved)), []);
  assert.deepEqual(texts(approval.validate(signed, approved)), ['status.certificate: Forbidden: updates may not set certificate content']);
  assert.deepEqual(texts(approval.validate(aRequest(), approved)), [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ]);
  const reworded = aRequest({}, { conditions: [condition('Approved', { reason: 'Other' })] });
  assert.deepEqual(texts(kind.validateStatusUpdate(reworded, approved)), [
    'status.conditions: Forbidden: updates may not modify a condition of type "Approved"',
  ]);
  const other = base64('-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n');
  assert.deepEqual(texts(kind.validateStatusUpdate(aRequest({}, { ...signed.status, certificate: other }), signed)), [
    'status.certificate: Forbidden: updates may not modify existing certificate content',
  ]);
  assert.deepEqual(texts(kind.validateStatusUpdate(aRequest({}, { ...approved.status, certificate: base64('x') }), approved)), [
    'status.certificate: Invalid value: "<certificate data>": must contain one or more CERTIFICATE PEM blocks',
  ]);
  const both = aRequest({}, { conditions: [condition('Approved'), condition('Denied', { status: 'False' })] });
  assert.deepEqual(texts(approval.validate(both, aRequest())), [
    'status.conditions[1].status: Unsupported value: "False": supported values: "True"',
    'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ]);
});

test('the condition of a request is told in a word or two', () => {
  const column = kind.columns.find(({ name }) => name === 'Condition');
  const shown = (status: object) => column?.cell(aRequest({}, status), 0);
  assert.deepEqual(
    [{}, { conditions: [condition('Approved')], certificate }, { conditions: [condition('Denied')] }, { conditions: [condition('Failed')] }].map(
      shown,
    ),
    ['Pending', 'Approved,Issued', 'Denied', 'Pending,Failed'],
  );
});
