import { type FieldProblem, invalid } from '../field-problem.ts';
import {
  formatCidr,
  formatIp,
  type IpAddress,
  isIpv4Mapped,
  maskedRange,
  parseCidr,
  parseIp,
  parseSloppyCidr,
  parseSloppyIp,
  rangeContains,
} from '../ip-address.ts';
import { quote } from '../quote.ts';

const notAnAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const notARange = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** @param stored values that the object has already: they are not judged again */
export function validateIp(text: string, field: string, stored: readonly string[] = []): readonly FieldProblem[] {
  return stored.includes(text) ? [] : ipProblems(text).map((problem) => invalid(field, text, problem));
}

/** What is wrong with an address of a field that takes the canonical form only. */
export function canonicalIpProblems(text: string): readonly string[] {
  const problems = ipProblems(text);
  const address = parseIp(text);
  if (problems.length > 0 || address === undefined || formatIp(address) === text) return problems;
  return [`must be in canonical form (${quote(formatIp(address))})`];
}

/** @param stored values that the object has already: they are not judged again */
export function validateCidr(text: string, field: string, stored: readonly string[] = []): readonly FieldProblem[] {
  return stored.includes(text) ? [] : cidrProblems(text).map((problem) => invalid(field, text, problem));
}

export function validateCanonicalCidr(text: string, field: string): readonly FieldProblem[] {
  const problems = cidrProblems(text);
  const range = parseCidr(text);
  if (problems.length > 0 || range === undefined || formatCidr(range) === text) return problems.map((problem) => invalid(field, text, problem));
  return [invalid(field, text, `must be in canonical form (${quote(formatCidr(range))})`)];
}

/** An address under which a service can be reached by others. */
export function validateOrdinaryIp(text: string, field: string): readonly FieldProblem[] {
  const address = parseSloppyIp(text);
  if (address === undefined) return [invalid(field, text, 'must be a valid IP address')];
  if (address.value === 0n) return [invalid(field, text, `may not be unspecified (${text})`)];
  return specialRanges.filter(({ ranges }) => isIn(address, ranges)).map(({ problem }) => invalid(field, text, problem));
}

const specialRanges: readonly { readonly ranges: readonly string[]; readonly problem: string }[] = [
  { ranges: ['127.0.0.0/8', '::1/128'], problem: 'may not be in the loopback range (127.0.0.0/8, ::1/128)' },
  { ranges: ['169.254.0.0/16', 'fe80::/10'], problem: 'may not be in the link-local range (169.254.0.0/16, fe80::/10)' },
  { ranges: ['224.0.0.0/24', 'ff02::/16'], problem: 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)' },
];

/** What a client is told of an address that is good, but not written as it should be. */
export function ipWarnings(text: string, field: string): readonly string[] {
  const address = parseIp(text);
  if (address?.family !== 'IPv6' || formatIp(address) === text) return [];
  return [`${field}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${quote(formatIp(address))})`];
}

export function cidrWarnings(text: string, field: string): readonly string[] {
  const range = parseCidr(text);
  if (range?.first.family !== 'IPv6' || formatCidr(range) === text) return [];
  return [`${field}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${quote(formatCidr(range))})`];
}

function ipProblems(text: string): readonly string[] {
  if (parseSloppyIp(text) === undefined) return [notAnAddress];
  if (parseIp(text) === undefined) return ['must not have leading 0s'];
  return isIpv4Mapped(text) ? ['must not be an IPv4-mapped IPv6 address'] : [];
}

function cidrProblems(text: string): readonly string[] {
  if (parseSloppyCidr(text) === undefined) return [notARange];
  const range = parseCidr(text);
  if (range === undefined) return ['must not have leading 0s in IP or prefix length'];
  if (isIpv4Mapped(text.slice(0, text.indexOf('/')))) return ['must not have an IPv4-mapped IPv6 address'];
  return range.first.value === maskedRange(range).first.value ? [] : ['must not have bits set beyond the prefix length'];
}

function isIn(address: IpAddress, ranges: readonly string[]): boolean {
  return ranges.some((text) => {
    const range = parseCidr(text);
    return range !== undefined && rangeContains(range, address);
  });
}
