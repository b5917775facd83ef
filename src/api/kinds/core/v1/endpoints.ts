import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { moreText } from '#api/more-text.ts';
import { ipWarnings, validateIp, validateOrdinaryIp } from '#api/rules/addresses.ts';
import { labelProblems, portNumberProblems, qualifiedNameProblems, subdomainProblems } from '#api/rules/names.ts';
import { validateProtocol } from '#api/rules/service/service-ports.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '#api/types/core-v1.ts';

export const endpoints = defineKind<Endpoints>({
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  scope: 'Namespaced',
  message: 'core.v1.Endpoints',
  shortNames: ['ep'],
  storagePrefix: 'services/endpoints',
  createsOnUpdate: true,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  columns: [
    nameColumn,
    column('Endpoints', { description: 'Addresses and ports behind the service.', cell: ({ subsets = [] }) => subsetsText(subsets) }),
    ageColumn,
  ],
  setDefaults: (endpoints) => changePart(endpoints, 'subsets', (subsets) => changeItems(subsets, defaultSubset)),
  warnings: ({ metadata, subsets = [] }, previous) => {
    const isOfController = metadata.labels?.[managedByLabel] === controller; // it writes addresses in the usual way
    const isSame = previous !== undefined && semanticEqual(subsets, previous.subsets);
    return isOfController || isSame ? [] : subsets.flatMap(subsetWarnings);
  },
  validateCreate: ({ subsets = [] }) => validateSubsets(subsets, []),
  validateUpdate: (next, previous) =>
    semanticEqual(next.subsets, previous.subsets) ? [] : validateSubsets(next.subsets ?? [], (previous.subsets ?? []).flatMap(ipsOf)),
});

const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const controller = 'endpoint-controller';
const maxShown = 3;

function defaultSubset(subset: EndpointSubset): EndpointSubset {
  return changePart(subset, 'ports', (ports) => changeItems(ports, (port) => fill(port, { protocol: 'TCP' })));
}

function validateSubsets(subsets: readonly EndpointSubset[], stored: readonly string[]): readonly FieldProblem[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
    const at = `subsets[${index}]`;
    return [
      ...(addresses.length + notReadyAddresses.length === 0 ? [required(at, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...addresses.flatMap((address, place) => validateAddress(address, `${at}.addresses[${place}]`, stored)),
      ...notReadyAddresses.flatMap((address, place) => validateAddress(address, `${at}.notReadyAddresses[${place}]`, stored)),
      ...ports.flatMap((port, place) => validatePort(port, ports.length > 1, `${at}.ports[${place}]`)),
    ];
  });
}

function validateAddress({ ip = '', hostname = '', nodeName }: EndpointAddress, field: string, stored: readonly string[]): readonly FieldProblem[] {
  const problems = validateIp(ip, `${field}.ip`, stored);
  return [
    ...problems,
    ...(hostname === '' ? [] : labelProblems(hostname).map((text) => invalid(`${field}.hostname`, hostname, text))),
    ...(nodeName === undefined ? [] : subdomainProblems(nodeName).map((text) => invalid(`${field}.nodeName`, nodeName, text))),
    ...(problems.length > 0 ? [] : validateOrdinaryIp(ip, `${field}.ip`)),
  ];
}

function validatePort({ name = '', port = 0, protocol, appProtocol }: EndpointPort, needsName: boolean, field: string): readonly FieldProblem[] {
  return [
    ...(name === '' ? (needsName ? [required(`${field}.name`)] : []) : labelProblems(name).map((text) => invalid(`${field}.name`, name, text))),
    ...portNumberProblems(port).map((text) => invalid(`${field}.port`, port, text)),
    ...validateProtocol(protocol, `${field}.protocol`),
    ...(appProtocol === undefined ? [] : qualifiedNameProblems(appProtocol).map((text) => invalid(`${field}.appProtocol`, appProtocol, text))),
  ];
}

function subsetWarnings({ addresses = [], notReadyAddresses = [] }: EndpointSubset, index: number): readonly string[] {
  const of = (list: readonly EndpointAddress[], key: string) =>
    list.flatMap(({ ip }, place) => ipWarnings(ip, `subsets[${index}].${key}[${place}].ip`));
  return [...of(addresses, 'addresses'), ...of(notReadyAddresses, 'notReadyAddresses')];
}

function ipsOf({ addresses = [], notReadyAddresses = [] }: EndpointSubset): readonly string[] {
  return [...addresses, ...notReadyAddresses].map(({ ip }) => ip);
}

function subsetsText(subsets: readonly EndpointSubset[]): string {
  const shown = subsets.flatMap(({ addresses = [], ports = [] }) => {
    const ips = addresses.map(({ ip }) => ip);
    if (ports.length === 0) return ips;
    return ports.flatMap(({ port }) => ips.map((ip) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)));
  });
  return shown.length === 0 ? '<none>' : moreText(shown, maxShown);
}
