import { createHash } from 'node:crypto';
import type { Credential } from './credentials.ts';

interface Coordinates {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Which pods may use an image under one of its names. */
export interface Grants {
  readonly nodePodsAccessible?: boolean;
  readonly kubernetesSecrets?: readonly (Coordinates & { readonly credentialHash: string })[];
  readonly kubernetesServiceAccounts?: readonly Coordinates[];
}

/** Upstream's files, in its own form. */
export interface ImagePulledRecord {
  readonly kind: 'ImagePulledRecord';
  readonly apiVersion: 'kubelet.config.k8s.io/v1beta1';
  readonly lastUpdatedTime: string;
  /** The runtime's id of the image. */
  readonly imageRef: string;
  /** By name without tag and digest. */
  readonly credentialMapping: Readonly<Record<string, Grants>>;
}

export interface ImagePullIntent {
  readonly kind: 'ImagePullIntent';
  readonly apiVersion: 'kubelet.config.k8s.io/v1beta1';
  readonly image: string;
}

/** So many secrets are remembered beside those that were used for a pull: else a busy cluster's namespaces would fill the file. */
const rememberedSecrets = 100;

export function newRecord(imageRef: string, now: string): ImagePulledRecord {
  return { kind: 'ImagePulledRecord', apiVersion: 'kubelet.config.k8s.io/v1beta1', lastUpdatedTime: now, imageRef, credentialMapping: {} };
}

/** What a pull with the credential proves. @param credential none: the registry gives the image to everybody */
export function grantOf(credential: Credential | undefined): Grants {
  if (credential === undefined || credential.source.kind === 'node') return { nodePodsAccessible: true };
  const { kind, uid, namespace, name } = credential.source;
  if (kind === 'service-account') return { kubernetesServiceAccounts: [{ uid, namespace, name }] };
  return { kubernetesSecrets: [{ uid, namespace, name, credentialHash: hashOf(credential) }] };
}

/** The same secret counts when it has changed, and the same credential when it is in another secret. */
export function grantsAccess(grants: Grants, credential: Credential): boolean {
  const { source } = credential;
  switch (source.kind) {
    case 'node':
      return false;
    case 'service-account':
      return grants.kubernetesServiceAccounts?.some((known) => isSame(known, source)) === true;
    case 'secret':
      return grants.kubernetesSecrets?.some((known) => isSame(known, source) || known.credentialHash === hashOf(credential)) === true;
  }
}

/** @returns the same record when it says so already */
export function mergeGrant(record: ImagePulledRecord, repository: string, grant: Grants | undefined, now: string): ImagePulledRecord {
  if (grant === undefined) return record;
  const known = record.credentialMapping[repository];
  const merged = known === undefined ? grant : mergeGrants(known, grant);
  if (merged === known) return record;
  return { ...record, lastUpdatedTime: now, credentialMapping: { ...record.credentialMapping, [repository]: merged } };
}

function mergeGrants(known: Grants, grant: Grants): Grants {
  if (known.nodePodsAccessible === true) return known;
  if (grant.nodePodsAccessible === true) return grant;
  const secrets = known.kubernetesSecrets ?? [];
  const accounts = known.kubernetesServiceAccounts ?? [];
  const newSecrets = (grant.kubernetesSecrets ?? []).filter(
    (one) => !secrets.some((other) => isSame(one, other) && one.credentialHash === other.credentialHash),
  );
  const newAccounts = (grant.kubernetesServiceAccounts ?? []).filter((one) => !accounts.some((other) => isSame(one, other)));
  if ((newSecrets.length === 0 || secrets.length >= rememberedSecrets) && newAccounts.length === 0) return known;
  const others = secrets.filter((one) => !newSecrets.some((other) => isSame(one, other)));
  return { kubernetesSecrets: [...others, ...newSecrets], kubernetesServiceAccounts: [...accounts, ...newAccounts] };
}

function isSame(a: Coordinates, b: Coordinates): boolean {
  return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;
}

function hashOf({ auth }: Credential): string {
  return createHash('sha256')
    .update(JSON.stringify([auth.username, auth.password, auth.identityToken, auth.registryToken]))
    .digest('hex');
}
