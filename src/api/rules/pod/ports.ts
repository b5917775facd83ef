import { duplicate, type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import type { Container, ContainerPort } from '#api/types/core-v1.ts';
import { isIpAddress, portNameProblems, portNumberProblems } from '../names.ts';

const protocols = ['SCTP', 'TCP', 'UDP'];

export function validatePorts(ports: readonly ContainerPort[], isHostNetwork: boolean, field: string): readonly FieldProblem[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `${field}[${index}]`;
    const { name = '', containerPort = 0, hostPort = 0, protocol = '', hostIP = '' } = port;
    const problems: FieldProblem[] = [];
    if (name !== '') {
      problems.push(...portNameProblems(name).map((text) => invalid(`${at}.name`, name, text)));
      if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    if (containerPort === 0) problems.push(required(`${at}.containerPort`));
    else problems.push(...portNumberProblems(containerPort).map((text) => invalid(`${at}.containerPort`, containerPort, text)));
    if (hostPort !== 0) {
      problems.push(...portNumberProblems(hostPort).map((text) => invalid(`${at}.hostPort`, hostPort, text)));
      if (isHostNetwork && hostPort !== containerPort) {
        problems.push(invalid(`${at}.hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true'));
      }
    }
    if (protocol === '') problems.push(required(`${at}.protocol`));
    else if (!protocols.includes(protocol)) problems.push(notSupported(`${at}.protocol`, protocol, protocols));
    if (hostIP !== '' && !isIpAddress(hostIP)) {
      problems.push(invalid(`${at}.hostIP`, hostIP, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'));
    }
    return problems;
  });
}

/** No two containers that run together may take the same port of the node. */
export function validateHostPorts(containers: readonly Container[], field: string): readonly FieldProblem[] {
  const taken = new Set<string>();
  return containers.flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ hostPort = 0, hostIP = '', protocol = '' }, portIndex) => {
      if (hostPort === 0) return [];
      const key = `${protocol}/${hostIP}/${hostPort}`;
      const isTaken = taken.has(key);
      taken.add(key);
      return isTaken ? [duplicate(`${field}[${index}].ports[${portIndex}].hostPort`, key)] : [];
    }),
  );
}
