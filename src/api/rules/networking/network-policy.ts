import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { type IpRange, parseSloppyCidr, rangeContains } from '#api/ip-address.ts';
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from '#api/types/networking-v1.ts';
import { cidrWarnings, validateCidr } from '../addresses.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { portNumberProblems } from '../names.ts';
import { validatePortReference } from '../service/service-ports.ts';

const policyTypes = ['Ingress', 'Egress'];
const protocols = ['TCP', 'UDP', 'SCTP'];

/** @param previous undefined: the policy is new */
export function validateNetworkPolicy({ spec = {} }: NetworkPolicy, previous: NetworkPolicy | undefined): readonly FieldProblem[] {
  const stored = rangesOf(previous?.spec ?? {});
  const rules = [
    ...(spec.ingress ?? []).map(({ ports, from }, index) => ({ at: `spec.ingress[${index}]`, ports, peers: from, peersKey: 'from' })),
    ...(spec.egress ?? []).map(({ ports, to }, index) => ({ at: `spec.egress[${index}]`, ports, peers: to, peersKey: 'to' })),
  ];
  return [
    ...validateLabelSelector(spec.podSelector ?? {}, 'spec.podSelector'),
    ...rules.flatMap(({ at, ports = [], peers = [], peersKey }) => [
      ...ports.flatMap((port, index) => validatePort(port, `${at}.ports[${index}]`)),
      ...peers.flatMap((peer, index) => validatePeer(peer, `${at}.${peersKey}[${index}]`, stored)),
    ]),
    ...validateTypes(spec.policyTypes ?? [], 'spec.policyTypes'),
  ];
}

/** What whoever writes a policy is told beside the answer. */
export function networkPolicyWarnings({ spec = {} }: NetworkPolicy): readonly string[] {
  const rules = [
    ...(spec.ingress ?? []).map(({ from = [] }, index) => ({ at: `spec.ingress[${index}].from`, peers: from })),
    ...(spec.egress ?? []).map(({ to = [] }, index) => ({ at: `spec.egress[${index}].to`, peers: to })),
  ];
  return rules.flatMap(({ at, peers }) =>
    peers.flatMap(({ ipBlock }, index) => {
      const { cidr = '', except = [] } = ipBlock ?? {};
      const field = `${at}[${index}].ipBlock`;
      return [...cidrWarnings(cidr, `${field}.cidr`), ...except.flatMap((part, place) => cidrWarnings(part, `${field}.except[${place}]`))];
    }),
  );
}

function validateTypes(types: readonly string[], field: string): readonly FieldProblem[] {
  if (types.length > policyTypes.length) return [invalid(field, types, 'may not specify more than two policyTypes')];
  return types.flatMap((type, index) => (policyTypes.includes(type) ? [] : [notSupported(`${field}[${index}]`, type, policyTypes)]));
}

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (protocol !== undefined && !protocols.includes(protocol)) problems.push(notSupported(`${field}.protocol`, protocol, protocols));
  if (port !== undefined) problems.push(...validatePortReference(port, `${field}.port`));
  return endPort === undefined ? problems : [...problems, ...validateEndPort(endPort, port, `${field}.endPort`)];
}

function validateEndPort(endPort: number, port: number | string | undefined, field: string): readonly FieldProblem[] {
  if (port === undefined) return [invalid(field, endPort, 'may not be specified when `port` is not specified')];
  if (typeof port === 'string') return [invalid(field, endPort, 'may not be specified when `port` is non-numeric')];
  return [
    ...(endPort < port ? [invalid(field, endPort, 'must be greater than or equal to `port`')] : []),
    ...portNumberProblems(endPort).map((text) => invalid(field, endPort, text)),
  ];
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  field: string,
  stored: readonly string[],
): readonly FieldProblem[] {
  const hasSelector = podSelector !== undefined || namespaceSelector !== undefined;
  return [
    ...(podSelector === undefined ? [] : validateLabelSelector(podSelector, `${field}.podSelector`)),
    ...(namespaceSelector === undefined ? [] : validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`)),
    ...(ipBlock === undefined ? [] : validateBlock(ipBlock, `${field}.ipBlock`, stored)),
    ...(!hasSelector && ipBlock === undefined ? [required(field, 'must specify a peer')] : []),
    ...(hasSelector && ipBlock !== undefined ? [forbidden(field, 'may not specify both ipBlock and another peer')] : []),
  ];
}

function validateBlock({ cidr = '', except = [] }: IPBlock, field: string, stored: readonly string[]): readonly FieldProblem[] {
  if (cidr === '') return [required(`${field}.cidr`)];
  const problems = validateCidr(cidr, `${field}.cidr`, stored);
  const whole = parseSloppyCidr(cidr);
  if (whole === undefined) return problems;
  return [...problems, ...except.flatMap((text, index) => validateExcept(text, whole, `${field}.except[${index}]`, stored))];
}

function validateExcept(text: string, whole: IpRange, field: string, stored: readonly string[]): readonly FieldProblem[] {
  const problems = validateCidr(text, field, stored);
  const part = parseSloppyCidr(text);
  if (part === undefined || (rangeContains(whole, part.first) && whole.prefix < part.prefix)) return problems;
  return [...problems, invalid(field, text, 'must be a strict subset of `cidr`')];
}

function rangesOf({ ingress = [], egress = [] }: NetworkPolicySpec): readonly string[] {
  const peers = [...ingress.flatMap(({ from = [] }) => from), ...egress.flatMap(({ to = [] }) => to)];
  return peers.flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [ipBlock.cidr, ...(ipBlock.except ?? [])]));
}
