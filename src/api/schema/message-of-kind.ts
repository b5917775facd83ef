import { hasMessage } from './message-schema.ts';

/** The message of a kind of Kubernetes' own, such as `core.v1.Pod`; undefined when the group is another's or there is none. */
export function messageOfKind(apiVersion: string, kind: string): string | undefined {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  if (group === '') return [`core.${version}.${kind}`, `meta.${version}.${kind}`].find(hasMessage);
  if (group.includes('.') && !group.endsWith('.k8s.io')) return undefined;
  const name = `${group.split('.')[0]}.${version}.${kind}`;
  return hasMessage(name) ? name : undefined;
}
