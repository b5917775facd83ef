import assert from 'node:assert/strict';
import type { Service, ServiceSpec } from '#api/types/core-v1.ts';
import type { IPAddress } from '#api/types/networking-v1.ts';
import type { Storage } from '#store/storage.ts';
import type { InProcessServer } from '../../testing/in-process-server.ts';

export const servicesUrl = '/api/v1/namespaces/default/services';
export const serviceCIDRs = ['10.96.0.0/16'];
export const ports = [{ port: 80 }];
export const aService = (name: string, spec: ServiceSpec = {}) => ({ metadata: { name }, spec: { ports, ...spec } });

export async function created(api: InProcessServer, name: string, spec: ServiceSpec = {}): Promise<Service> {
  const { status, body } = await api.call('POST', servicesUrl, { body: aService(name, spec) });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

export async function patched(api: InProcessServer, name: string, spec: object): Promise<Service> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const { status, body } = await api.call('PATCH', `${servicesUrl}/${name}`, { body: { spec }, headers });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

export async function refused(api: InProcessServer, spec: ServiceSpec): Promise<string> {
  const { status, body } = await api.call('POST', servicesUrl, { body: aService('x', spec) });
  assert.notEqual(status, 201);
  return `${status} ${body.message}`;
}

export async function addresses(api: InProcessServer): Promise<readonly string[]> {
  const { body } = await api.call('GET', '/apis/networking.k8s.io/v1/ipaddresses');
  return body.items.map((item: IPAddress) => item.metadata.name);
}

export async function heldPorts(storage: Storage): Promise<readonly number[]> {
  const prefix = '/registry/servicenodeports/';
  const { entries } = await storage.range(prefix, { revision: 0, limit: 0, after: '' }, new AbortController().signal);
  return entries.map(({ key }) => Number(key.slice(prefix.length)));
}

export const nodePorts = ({ spec }: Service) => (spec?.ports ?? []).map(({ nodePort }) => nodePort);
