import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import { deepEqual, semanticEqual } from '#api/deep-equal.ts';
import { defineKind } from '#api/kind.ts';
import { moreText } from '#api/more-text.ts';
import { ipWarnings } from '#api/rules/addresses.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { validateEndpointSlice } from '#api/rules/service/endpoint-slice.ts';
import type { Endpoint, EndpointPort, EndpointSlice } from '#api/types/discovery-v1.ts';

export const endpointSlice = defineKind<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
  message: 'discovery.v1.EndpointSlice',
  generation: (next, previous) =>
    !semanticEqual(withoutMetadata(next), withoutMetadata(previous)) || !deepEqual(next.metadata.labels ?? {}, previous.metadata.labels ?? {}),
  columns: [
    nameColumn,
    column('AddressType', { description: 'Kind of the addresses.', cell: ({ addressType }) => addressType ?? '' }),
    column('Ports', { description: 'Ports of every endpoint.', cell: ({ ports = [] }) => listText(ports.map(portText)) }),
    column('Endpoints', {
      description: 'Addresses of the endpoints.',
      cell: ({ endpoints = [] }) => listText(endpoints.flatMap(({ addresses = [] }) => addresses)),
    }),
    ageColumn,
  ],
  setDefaults: (slice) => changePart(slice, 'ports', (ports) => changeItems(ports, (port) => fill({ name: '', ...port }, { protocol: 'TCP' }))),
  warnings: ({ metadata, addressType, endpoints = [] }) => {
    if (controllers.includes(metadata.labels?.[managedByLabel] ?? '')) return []; // they write addresses in the usual way
    if (addressType === 'FQDN') return ['addressType: FQDN endpoints are deprecated'];
    return endpoints.flatMap(({ addresses = [] }, index) =>
      addresses.flatMap((address, place) => ipWarnings(address, `endpoints[${index}].addresses[${place}]`)),
    );
  },
  // A field of v1beta1 that v1 shows but does not take.
  prepareCreate: (slice) => changePart(slice, 'endpoints', (endpoints) => changeItems(endpoints, withoutTopology)),
  prepareUpdate: (next, previous) =>
    semanticEqual(next.endpoints, previous.endpoints) ? next : changePart(next, 'endpoints', (endpoints) => changeItems(endpoints, withoutTopology)),
  validateCreate: (slice) => validateEndpointSlice(slice, undefined),
  validateUpdate: (next, previous) => [
    ...validateImmutable(next.addressType, previous.addressType, 'addressType'),
    ...validateEndpointSlice(next, previous),
  ],
});

const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
const controllers: readonly string[] = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];
const maxShown = 3;

function withoutMetadata({ metadata: _, ...rest }: EndpointSlice): object {
  return rest;
}

function withoutTopology(endpoint: Endpoint): Endpoint {
  if (endpoint.deprecatedTopology === undefined) return endpoint;
  const { deprecatedTopology: _, ...kept } = endpoint;
  return kept;
}

function portText({ port, name = '' }: EndpointPort): string {
  if (port !== undefined) return String(port);
  return name === '' ? '*' : name;
}

function listText(texts: readonly string[]): string {
  return texts.length === 0 ? '<unset>' : moreText(texts, maxShown);
}
