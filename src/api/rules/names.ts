/**
 * Which texts may be names, keys and values. Every function returns what is wrong, in upstream's words, and nothing when all is well;
 * a caller puts each text behind `Invalid value: "…": `.
 */
export type TextRule = (text: string) => readonly string[];

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dns1035Label = '[a-z]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualified})?`;
const configKey = '[-._a-zA-Z0-9]+';

const whole = (pattern: string) => new RegExp(`^(?:${pattern})$`);
const isLabel = whole(label);
const isDns1035Label = whole(dns1035Label);
const isSubdomain = whole(subdomain);
const isQualified = whole(qualified);
const isLabelValue = whole(labelValue);
const isConfigKey = whole(configKey);
const isWildcard = whole(`\\*\\.${subdomain}`);

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  `alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`;
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  `alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`;
const dns1035LabelText =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an " +
  `alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${dns1035Label}')`;
const wildcardText =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric " +
  "characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is " +
  `'\\*\\.${subdomain}')`;
const qualifiedCharacters =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  `(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualified}')`;
const labelValueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  `alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${labelValue}')`;
const configKeyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', " +
  `regex used for validation is '${configKey}')`;

/** DNS-1123 subdomain: the name of most objects. */
export const subdomainProblems: TextRule = (text) => [
  ...(text.length > 253 ? ['must be no more than 253 characters'] : []),
  ...(isSubdomain.test(text) ? [] : [subdomainText]),
];

/** `*.example.com`: the host of an Ingress. */
export const wildcardProblems: TextRule = (text) => [
  ...(text.length > 253 ? ['must be no more than 253 characters'] : []),
  ...(isWildcard.test(text) ? [] : [wildcardText]),
];

/** DNS-1123 label: the name of a namespace, container or volume. */
export const labelProblems: TextRule = (text) => [
  ...(text.length > 63 ? ['must be no more than 63 characters'] : []),
  ...(isLabel.test(text) ? [] : [isSubdomain.test(text) ? 'must not contain dots' : labelText]),
];

/** DNS-1035 label: the version or the kind of an API. */
export const dns1035LabelProblems: TextRule = (text) => [
  ...(text.length > 63 ? ['must be no more than 63 characters'] : []),
  ...(isDns1035Label.test(text) ? [] : [dns1035LabelText]),
];

/** What an URL can carry: the name of everything that has no stricter rule. */
export const pathSegmentProblems: TextRule = (text) => {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((character) => text.includes(character)).map((character) => `may not contain '${character}'`);
};

/** `name` or `example.com/name`: keys of labels and annotations, names of resources, finalizers. */
export const qualifiedNameProblems: TextRule = (text) => {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [`a valid label key ${qualifiedCharacters} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const name = parts.at(-1) ?? '';
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) problems.push(...subdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push('name part must be no more than 63 bytes');
  if (!isQualified.test(name)) problems.push(`name part ${qualifiedCharacters}`);
  return problems;
};

export const labelValueProblems: TextRule = (text) => [
  ...(text.length > 63 ? ['must be no more than 63 bytes'] : []),
  ...(isLabelValue.test(text) ? [] : [labelValueText]),
];

/** Key of a ConfigMap or Secret: it becomes a file name. */
export const configKeyProblems: TextRule = (text) => {
  const problems: string[] = [];
  if (text.length > 253) problems.push('must be no more than 253 characters');
  if (!isConfigKey.test(text)) problems.push(configKeyText);
  if (text === '.' || text === '..') problems.push(`must not be '${text}'`);
  else if (text.startsWith('..')) problems.push("must not start with '..'");
  return problems;
};

export const environmentNameProblems: TextRule = (text) =>
  /^[ -<>-~]+$/.test(text) ? [] : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

/** IANA service name: the name of a port. */
export const portNameProblems: TextRule = (text) => {
  const problems: string[] = [];
  if (text.length > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(text)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
};

export function portNumberProblems(port: number): readonly string[] {
  return port >= 1 && port <= 65_535 ? [] : ['must be between 1 and 65535, inclusive'];
}

/** IPv4 or IPv6, as an object may hold it. */
export function isIpAddress(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

export function isIpv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);
}

export function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const hasIpv4 = last.includes('.');
  if (hasIpv4 && !isIpv4(last)) return false;
  const plain = hasIpv4 ? groups.slice(0, -1) : groups;
  const count = plain.length + (hasIpv4 ? 2 : 0);
  return plain.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) && (halves.length === 2 ? count <= 7 : count === 8);
}
