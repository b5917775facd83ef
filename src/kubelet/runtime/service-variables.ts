import type { Pod, Service } from '#api/types/core-v1.ts';

/** What is read of a Service for the environment of containers. */
export type NamedService = Pick<Service, 'metadata' | 'spec'>;

/** The API server's own Service: every pod is told of it, whatever its namespace. */
const master = { namespace: 'default', name: 'kubernetes' } as const;

/**
 * The variables by which a container finds the Services of its namespace, in the style of docker links.
 *
 * @param linked `enableServiceLinks`: false leaves the API server alone
 */
export function serviceVariables(pod: Pod, services: readonly NamedService[], linked: boolean): ReadonlyMap<string, string> {
  const chosen = new Map<string, NamedService>();
  for (const service of services) {
    const { name, namespace } = service.metadata;
    const isMaster = namespace === master.namespace && name === master.name;
    const isOwn = linked && namespace === pod.metadata.namespace;
    if (!hasAddress(service) || (!isMaster && !isOwn)) continue;
    if (isOwn || !chosen.has(name)) chosen.set(name, service); // a Service of the own namespace goes before the API server's
  }
  return new Map([...chosen.values()].flatMap(variablesOf));
}

function hasAddress({ spec }: NamedService): boolean {
  return spec?.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None';
}

function variablesOf({ metadata, spec }: NamedService): readonly (readonly [string, string])[] {
  const prefix = variableName(metadata.name);
  const address = spec?.clusterIP ?? '';
  const ports = spec?.ports ?? [];
  const [first] = ports;
  if (first === undefined) return [[`${prefix}_SERVICE_HOST`, address]];
  const url = (port: number, protocol: string) => `${protocol}://${address.includes(':') ? `[${address}]` : address}:${port}`;
  return [
    [`${prefix}_SERVICE_HOST`, address],
    [`${prefix}_SERVICE_PORT`, String(first.port)],
    ...ports.flatMap(({ name = '', port }) => (name === '' ? [] : [[`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port)] as const])),
    [`${prefix}_PORT`, url(first.port, protocolOf(first))],
    ...ports.flatMap((one) => {
      const protocol = protocolOf(one);
      const link = `${prefix}_PORT_${one.port}_${protocol.toUpperCase()}`;
      return [
        [link, url(one.port, protocol)],
        [`${link}_PROTO`, protocol],
        [`${link}_PORT`, String(one.port)],
        [`${link}_ADDR`, address],
      ] as const;
    }),
  ];
}

function protocolOf({ protocol }: { readonly protocol?: string | undefined }): string {
  return (protocol === undefined || protocol === '' ? 'TCP' : protocol).toLowerCase();
}

function variableName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
