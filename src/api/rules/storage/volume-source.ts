import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import type { CSIPersistentVolumeSource, HostPathVolumeSource, NFSVolumeSource, PersistentVolumeSource } from '#api/types/core-v1.ts';
import { validateDriverName, validateSecretReference } from './names.ts';

/** What each kind of volume cannot do without, in upstream's order. */
const needed: Readonly<Record<keyof PersistentVolumeSource, readonly string[]>> = {
  hostPath: [],
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  glusterfs: ['endpoints', 'path'],
  flocker: [],
  nfs: [],
  rbd: ['monitors', 'image'],
  quobyte: ['registry', 'volume'],
  cephfs: ['monitors'],
  iscsi: ['targetPortal', 'iqn'],
  cinder: ['volumeID'],
  fc: [],
  flexVolume: ['driver'],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  local: ['path'],
  storageos: ['volumeName'],
  csi: [],
};

/** Where upstream's messages do not say what the object says. */
const shownNames: Readonly<Record<string, string>> = { gcePersistentDisk: 'persistentDisk' };

/** Of a spec the part that says what the volume is. */
export function sourceOf(spec: PersistentVolumeSource): PersistentVolumeSource {
  return Object.fromEntries(Object.entries(spec).filter(([key, value]) => Object.hasOwn(needed, key) && value !== undefined));
}

export function validateVolumeSource(spec: PersistentVolumeSource, field: string): readonly FieldProblem[] {
  const given = new Map<string, unknown>(Object.entries(sourceOf(spec)));
  const [first, ...others] = Object.entries(needed).filter(([name]) => given.has(name));
  if (first === undefined) return [required(field, 'must specify a volume type')];
  const [name, fields] = first;
  const at = `${field}.${shownNames[name] ?? name}`;
  return [
    ...missing(given.get(name), fields).map((key) => required(`${at}.${key}`)),
    ...validateDetails(spec, field),
    ...others.map(([other]) => forbidden(`${field}.${other}`, 'may not specify more than 1 volume type')),
  ];
}

function missing(source: unknown, fields: readonly string[]): readonly string[] {
  const given = new Map<string, unknown>(Object.entries(source ?? {}));
  return fields.filter((key) => {
    const value = given.get(key) ?? '';
    return value === '' || (Array.isArray(value) && value.length === 0);
  });
}

function validateDetails({ hostPath, nfs, csi, local, flocker, fc }: PersistentVolumeSource, field: string): readonly FieldProblem[] {
  if (hostPath !== undefined) return validateHostPath(hostPath, `${field}.hostPath`);
  if (nfs !== undefined) return validateNfs(nfs, `${field}.nfs`);
  if (csi !== undefined) return validateCsi(csi, `${field}.csi`);
  if (local !== undefined) return validateNoSteps(local.path ?? '', `${field}.local.path`);
  if (flocker !== undefined) {
    const count = [flocker.datasetName, flocker.datasetUUID].filter((text) => (text ?? '') !== '').length;
    if (count === 0) return [required(`${field}.flocker`, 'one of datasetName and datasetUUID is required')];
    return count === 1 ? [] : [invalid(`${field}.flocker`, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')];
  }
  if (fc !== undefined) {
    const hasNames = (fc.targetWWNs ?? []).length > 0;
    const isOne = hasNames !== (fc.wwids ?? []).length > 0;
    const detail = 'must specify either targetWWNs or wwids, but not both';
    if (!isOne) return [hasNames ? invalid(`${field}.fc.targetWWNs`, fc.targetWWNs, detail) : required(`${field}.fc.targetWWNs`, detail)];
  }
  return [];
}

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];

function validateHostPath({ path = '', type = '' }: HostPathVolumeSource, field: string): readonly FieldProblem[] {
  if (path === '') return [required(`${field}.path`)];
  return [...validateNoSteps(path, `${field}.path`), ...(hostPathTypes.includes(type) ? [] : [notSupported(`${field}.type`, type, hostPathTypes)])];
}

function validateNfs({ server = '', path = '' }: NFSVolumeSource, field: string): readonly FieldProblem[] {
  return [
    ...(server === '' ? [required(`${field}.server`)] : []),
    ...(path === '' ? [required(`${field}.path`)] : []),
    ...(path.startsWith('/') ? [] : [invalid(`${field}.path`, path, 'must be an absolute path')]),
  ];
}

const csiSecrets = ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const;

function validateCsi(csi: CSIPersistentVolumeSource, field: string): readonly FieldProblem[] {
  return [
    ...validateDriverName(csi.driver ?? '', `${field}.driver`),
    ...((csi.volumeHandle ?? '') === '' ? [required(`${field}.volumeHandle`)] : []),
    ...csiSecrets.flatMap((key) => {
      const reference = csi[key];
      return reference === undefined ? [] : validateSecretReference(reference, `${field}.${key}`);
    }),
  ];
}

function validateNoSteps(path: string, field: string): readonly FieldProblem[] {
  return path.split('/').includes('..') ? [invalid(field, path, "must not contain '..'")] : [];
}
