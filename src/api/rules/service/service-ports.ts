import { duplicate, type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import type { Service, ServicePort } from '#api/types/core-v1.ts';
import { findDuplicates } from '../checks.ts';
import { labelProblems, portNameProblems, portNumberProblems, qualifiedNameProblems } from '../names.ts';
import { isHeadless, nodePortOf } from './service-facts.ts';

export const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];

export function validateServicePorts(service: Service, field: string): readonly FieldProblem[] {
  const ports = service.spec?.ports ?? [];
  const type = service.spec?.type;
  if (ports.length === 0) return isHeadless(service) || type === 'ExternalName' ? [] : [required(field)];
  return [
    ...ports.flatMap((port, index) => validateServicePort(port, ports.length > 1, `${field}[${index}]`)),
    ...findDuplicates(
      ports.map((port, index) => ({ port, index })).filter(({ port }) => (port.name ?? '') !== ''),
      ({ port }) => port.name ?? '',
      ({ port, index }) => duplicate(`${field}[${index}].name`, port.name),
    ),
    ...(type === 'ClusterIP' ? validateNoNodePorts(ports, field) : []),
    ...findDuplicates(
      ports.map((port, index) => ({ port, index })).filter(({ port }) => nodePortOf(port) !== 0),
      ({ port }) => `${port.protocol}/${port.nodePort}`,
      ({ port, index }) => duplicate(`${field}[${index}].nodePort`, port.nodePort),
    ),
    ...findDuplicates(
      ports,
      ({ protocol, port }) => `${protocol}/${port}`,
      ({ protocol, port }, index) => duplicate(`${field}[${index}]`, { protocol, port }),
    ),
  ];
}

/** The protocol of a port anywhere in the API. */
export function validateProtocol(protocol: string | undefined, field: string): readonly FieldProblem[] {
  if ((protocol ?? '') === '') return [required(field)];
  return protocols.includes(protocol ?? '') ? [] : [notSupported(field, protocol, protocols)];
}

/** A number, or the name of a container's port. */
export function validatePortReference(port: number | string | undefined, field: string): readonly FieldProblem[] {
  const problems = typeof port === 'string' ? portNameProblems(port) : portNumberProblems(port ?? 0);
  return problems.map((text) => invalid(field, port, text));
}

function validateServicePort(port: ServicePort, needsName: boolean, field: string): readonly FieldProblem[] {
  const { name = '', appProtocol } = port;
  return [
    ...(name === '' ? (needsName ? [required(`${field}.name`)] : []) : labelProblems(name).map((text) => invalid(`${field}.name`, name, text))),
    ...portNumberProblems(port.port ?? 0).map((text) => invalid(`${field}.port`, port.port ?? 0, text)),
    ...validateProtocol(port.protocol, `${field}.protocol`),
    ...validatePortReference(port.targetPort, `${field}.targetPort`),
    ...(appProtocol === undefined ? [] : qualifiedNameProblems(appProtocol).map((text) => invalid(`${field}.appProtocol`, appProtocol, text))),
  ];
}

function validateNoNodePorts(ports: readonly ServicePort[], field: string): readonly FieldProblem[] {
  return ports.flatMap((port, index): readonly FieldProblem[] =>
    nodePortOf(port) === 0 ? [] : [{ type: 'Forbidden', field: `${field}[${index}].nodePort`, detail: "may not be used when `type` is 'ClusterIP'" }],
  );
}
