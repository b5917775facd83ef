import { duplicate, type FieldProblem, invalid, required, tooMany } from '#api/field-problem.ts';
import { parseSloppyIp } from '#api/ip-address.ts';
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from '#api/types/discovery-v1.ts';
import { validateIp, validateOrdinaryIp } from '../addresses.ts';
import { findDuplicates, validateChoice } from '../checks.ts';
import { validateLabels } from '../metadata.ts';
import { labelProblems, labelValueProblems, portNumberProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';
import { validateProtocol } from './service-ports.ts';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const maxEndpoints = 1_000;
const maxAddresses = 100;
const maxPorts = 20_000;
const maxTopologyLabels = 16;
const maxHints = 8;

/** @param previous undefined: the slice is new */
export function validateEndpointSlice(slice: EndpointSlice, previous: EndpointSlice | undefined): readonly FieldProblem[] {
  const { addressType = '', endpoints = [], ports = [] } = slice;
  const stored = (previous?.endpoints ?? []).flatMap(({ addresses }) => addresses ?? []);
  return [
    ...validateChoice(addressType, addressTypes, 'addressType'),
    ...(endpoints.length > maxEndpoints
      ? [tooMany('endpoints', endpoints.length, maxEndpoints)]
      : endpoints.flatMap((endpoint, index) => validateEndpoint(endpoint, addressType, `endpoints[${index}]`, stored))),
    ...validatePorts(ports),
  ];
}

function validateEndpoint(endpoint: Endpoint, addressType: string, field: string, stored: readonly string[]): readonly FieldProblem[] {
  const { addresses = [], nodeName, hostname, deprecatedTopology = {}, hints } = endpoint;
  const at = `${field}.addresses`;
  const problems: FieldProblem[] = [];
  if (addresses.length === 0) problems.push(required(at, 'must contain at least 1 address'));
  else if (addresses.length > maxAddresses) problems.push(tooMany(at, addresses.length, maxAddresses));
  problems.push(...addresses.flatMap((address, index) => validateAddress(address, addressType, `${at}[${index}]`, stored)));
  if (nodeName !== undefined) problems.push(...subdomainProblems(nodeName).map((text) => invalid(`${field}.nodeName`, nodeName, text)));
  const topologyCount = Object.keys(deprecatedTopology).length;
  if (topologyCount > maxTopologyLabels) problems.push(tooMany(`${field}.deprecatedTopology`, topologyCount, maxTopologyLabels));
  problems.push(...validateLabels(deprecatedTopology, `${field}.deprecatedTopology`));
  if (hostname !== undefined) problems.push(...labelProblems(hostname).map((text) => invalid(`${field}.hostname`, hostname, text)));
  return hints === undefined ? problems : [...problems, ...validateHints(hints, `${field}.hints`)];
}

function validateAddress(address: string, addressType: string, field: string, stored: readonly string[]): readonly FieldProblem[] {
  if (addressType === 'FQDN') return validateFullName(address, field);
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
  const problems = validateIp(address, field, stored);
  if (problems.length > 0) return problems;
  if (parseSloppyIp(address)?.family !== addressType) return [invalid(field, address, `must be an ${addressType} address`)];
  return validateOrdinaryIp(address, field);
}

function validateFullName(name: string, field: string): readonly FieldProblem[] {
  if (name === '') return [required(field)];
  const plain = name.replace(/\.$/, '');
  const problems = subdomainProblems(plain);
  if (problems.length > 0) return problems.map((text) => invalid(field, plain, text));
  return plain.includes('.') ? [] : [invalid(field, plain, 'should be a domain with at least two segments separated by dots')];
}

function validateHints({ forZones = [], forNodes = [] }: EndpointHints, field: string): readonly FieldProblem[] {
  const lists = [
    { key: 'forZones', names: forZones.map(({ name = '' }) => name), rule: labelValueProblems },
    { key: 'forNodes', names: forNodes.map(({ name = '' }) => name), rule: subdomainProblems },
  ];
  return lists.flatMap(({ key, names, rule }) => {
    const at = `${field}.${key}`;
    if (names.length > maxHints) return [tooMany(at, names.length, maxHints)];
    return [
      ...findDuplicates(
        names,
        (name) => name,
        (name, index) => duplicate(`${at}[${index}].name`, name),
      ),
      ...names.flatMap((name, index) => rule(name).map((text) => invalid(`${at}[${index}].name`, name, text))),
    ];
  });
}

function validatePorts(ports: readonly EndpointPort[]): readonly FieldProblem[] {
  if (ports.length > maxPorts) return [tooMany('ports', ports.length, maxPorts)];
  return [
    ...findDuplicates(
      ports,
      ({ name = '' }) => name,
      ({ name = '' }, index) => duplicate(`ports[${index}].name`, name),
    ),
    ...ports.flatMap(({ name = '', port, protocol, appProtocol }, index) => {
      const at = `ports[${index}]`;
      return [
        ...(name === '' ? [] : labelProblems(name).map((text) => invalid(`${at}.name`, name, text))),
        ...(port === undefined ? [] : portNumberProblems(port).map((text) => invalid(`${at}.port`, port, text))),
        ...validateProtocol(protocol, `${at}.protocol`),
        ...(appProtocol === undefined ? [] : qualifiedNameProblems(appProtocol).map((text) => invalid(`${at}.appProtocol`, appProtocol, text))),
      ];
    }),
  ];
}
