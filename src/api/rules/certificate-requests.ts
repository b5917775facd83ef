import { deepEqual } from '../deep-equal.ts';
import { duplicate, type FieldProblem, forbidden, invalid, notSupported, required, tooLong } from '../field-problem.ts';
import { quote } from '../quote.ts';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../types/certificates-v1.ts';
import { findDuplicates } from './checks.ts';
import { labelProblems, subdomainProblems } from './names.ts';

const legacySigner = 'kubernetes.io/legacy-unknown';
const durationMinSeconds = 600;
const usages = [
  ...['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment', 'decipher only', 'digital signature'],
  ...['email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc'],
  ...['netscape sgc', 'ocsp signing', 's/mime', 'server auth', 'signing', 'timestamping'],
];
/** Conditions that are there, or are not. */
const lasting = ['Approved', 'Denied', 'Failed'];
const decisions = ['Approved', 'Denied'];

export function validateCertificateRequest(request: CertificateSigningRequest): readonly FieldProblem[] {
  const { request: pem = '', usages: given = [], signerName = '', expirationSeconds } = request.spec ?? {};
  return [
    ...(isPemOf(pem, 'CERTIFICATE REQUEST') ? [] : [invalid('spec.request', pem, 'PEM block type must be CERTIFICATE REQUEST')]),
    ...(given.length === 0 ? [required('spec.usages')] : []),
    ...given.flatMap((usage, index) => (usages.includes(usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, usages)])),
    ...findDuplicates(
      given,
      (usage) => usage,
      (usage, index) => duplicate(`spec.usages[${index}]`, usage),
    ),
    ...(signerName === legacySigner
      ? [invalid('spec.signerName', signerName, 'the legacy signerName is not allowed via this API version')]
      : validateSignerName(signerName, 'spec.signerName')),
    ...(expirationSeconds !== undefined && expirationSeconds < durationMinSeconds
      ? [invalid('spec.expirationSeconds', expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)')]
      : []),
    ...validateConditions(request.status?.conditions ?? [], 'status.conditions'),
    ...validateCertificate(request.status?.certificate ?? '', 'status.certificate'),
  ];
}

/** `example.com/signer-name` */
export function validateSignerName(name: string, field: string): readonly FieldProblem[] {
  if (name === '') return [required(field)];
  const [domain = '', path = '', ...rest] = name.split('/');
  if (!name.includes('/') || rest.length > 0) {
    return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  const labels = domain.split('.');
  return [
    ...(domain.length > 253 ? [tooLong(field, 253)] : []),
    ...firstProblem(labels, labelProblems).map((detail) => invalid(field, domain, detail)),
    ...(labels.length < 2 ? [invalid(field, domain, 'should be a domain with at least two segments separated by dots')] : []),
    ...firstProblem(path.split('.'), subdomainProblems).map((detail) => invalid(field, path, detail)),
  ];
}

/** Of the first part that breaks the rule. */
function firstProblem(parts: readonly string[], rule: (text: string) => readonly string[]): readonly string[] {
  const bad = parts.find((part) => rule(part).length > 0);
  return bad === undefined ? [] : rule(bad).map((text) => `validating label ${quote(bad)}: ${text}`);
}

function validateConditions(conditions: readonly CertificateSigningRequestCondition[], field: string): readonly FieldProblem[] {
  const problems = conditions.flatMap(({ type = '', status = '' }, index): readonly FieldProblem[] => {
    const at = `${field}[${index}]`;
    const allowed = lasting.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    const other = decisions.find((decision) => decision !== type);
    const isContradiction = decisions.includes(type) && conditions.slice(0, index).some((earlier) => earlier.type === other);
    return [
      ...(type === '' ? [required(`${at}.type`)] : []),
      ...(status === '' ? [required(`${at}.status`)] : allowed.includes(status) ? [] : [notSupported(`${at}.status`, status, allowed)]),
      ...(isContradiction ? [invalid(`${at}.type`, type, 'Approved and Denied conditions are mutually exclusive')] : []),
    ];
  });
  const repeated = findDuplicates(
    conditions,
    ({ type }) => type,
    ({ type }, index) => duplicate(`${field}[${index}].type`, type),
  );
  return [...problems, ...repeated];
}

function validateCertificate(certificate: string, field: string): readonly FieldProblem[] {
  if (certificate === '') return [];
  const problem = (detail: string) => [invalid(field, '<certificate data>', detail)];
  const blocks = [...textOf(certificate).matchAll(/-----BEGIN ([^-]+)-----([\s\S]*?)-----END \1-----/g)];
  const foreign = blocks.find(([, type]) => type !== 'CERTIFICATE');
  if (foreign !== undefined) return problem(`only CERTIFICATE PEM blocks are allowed, found ${quote(foreign[1] ?? '')}`);
  if (blocks.some(([, , content = '']) => content.includes(':'))) return problem('no PEM block headers are permitted');
  return blocks.length === 0 ? problem('must contain one or more CERTIFICATE PEM blocks') : [];
}

export interface AllowedChanges {
  readonly decision: boolean;
  readonly certificate: boolean;
}

/** What an endpoint may change of a request's status; nothing takes conditions back. */
export function validateCertificateUpdate(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  allowed: AllowedChanges,
): readonly FieldProblem[] {
  const [after = '', before = ''] = [next.status?.certificate, previous.status?.certificate];
  const problems: FieldProblem[] = [];
  const complain = (verb: string, type: string) =>
    problems.push(forbidden('status.conditions', `updates may not ${verb} a condition of type ${quote(type)}`));
  for (const type of lasting) if (ofType(next, type).length < ofType(previous, type).length) complain('remove', type);
  for (const type of allowed.decision ? [] : decisions) {
    const [now, then] = [ofType(next, type), ofType(previous, type)];
    if (now.length > then.length) complain('add', type);
    else if (now.length === then.length && !deepEqual(now, then)) complain('modify', type);
  }
  if (after === before) return problems;
  if (!allowed.certificate) problems.push(forbidden('status.certificate', 'updates may not set certificate content'));
  else if (before !== '') problems.push(forbidden('status.certificate', 'updates may not modify existing certificate content'));
  return problems;
}

function ofType({ status }: CertificateSigningRequest, type: string): readonly CertificateSigningRequestCondition[] {
  return (status?.conditions ?? []).filter((condition) => condition.type === type);
}

function isPemOf(base64: string, type: string): boolean {
  return new RegExp(`-----BEGIN ${type}-----\\s[^-]+-----END ${type}-----`).test(textOf(base64));
}

function textOf(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
}
