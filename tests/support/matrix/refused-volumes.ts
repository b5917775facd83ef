import type { Refusal } from './matrix.ts';
import { emptyDir, env, hostPath } from './node-volumes.ts';

// Volumes that cannot be made or mounted, and what is said of them.

const failedMount = (volume: string, what: string) => `MountVolume.SetUp failed for volume "${volume}" : ${what}`;
const mounting = (volume: object, mount: object = {}) => ({
  spec: { volumes: [{ name: 'it', ...volume }] },
  container: { volumeMounts: [{ name: 'it', mountPath: '/it', ...mount }], env },
});
/** A volume that cannot be made. */
const unmade = (pod: string, feature: string, volume: object, what: string): Refusal => ({
  feature,
  pod,
  ...mounting(volume),
  by: 'event',
  reason: 'FailedMount',
  message: failedMount('it', what),
});
/** A volume that is there, but not as the container wants it. */
const unmounted = (pod: string, feature: string, volume: object, mount: object, message: string | RegExp): Refusal => ({
  feature,
  pod,
  ...mounting(volume, mount),
  by: 'waiting',
  reason: 'CreateContainerConfigError',
  message,
});
const items = [{ key: 'absent', path: 'absent' }];
const both = { sources: [{ configMap: { name: 'absent' } }, { secret: { name: 'absent' } }] };
const expression = (subPathExpr: string) => ({ subPathExpr });

export function refusedVolumes(host: string): readonly Refusal[] {
  const notA = (type: string, called: string): Refusal =>
    unmade(
      `no-${type.toLowerCase()}`,
      `hostPath: what is no ${called} is no ${type}`,
      hostPath(`${host}/${type === 'File' ? 'folder' : 'file'}`, type),
      `hostPath type check failed: ${host}/${type === 'File' ? 'folder' : 'file'} is not a ${called}`,
    );
  return [
    unmade('no-config', 'subtle 46: a configMap that is not there', { configMap: { name: 'absent' } }, 'configmap "absent" not found'),
    unmade(
      'no-key',
      'subtle 46: a key that is not there',
      { configMap: { name: 'settings', items } },
      'configmap references non-existent config key: absent',
    ),
    unmade('no-secret', 'subtle 46: a secret that is not there', { secret: { secretName: 'absent' } }, 'secret "absent" not found'),
    unmade(
      'no-secret-key',
      'subtle 46: a key of a secret that is not there',
      { secret: { secretName: 'keys', items } },
      'references non-existent secret key: absent',
    ),
    unmade('no-sources', 'projected: all that is missing is told', { projected: both }, '[configmap "absent" not found, secret "absent" not found]'),
    unmade(
      'no-place',
      'hostPath: what is not there is no Directory',
      hostPath(`${host}/absent`, 'Directory'),
      `hostPath type check failed: ${host}/absent is not a directory`,
    ),
    notA('Directory', 'directory'),
    notA('DirectoryOrCreate', 'directory'),
    notA('File', 'file'),
    notA('Socket', 'socket file'),
    notA('CharDevice', 'character device'),
    notA('BlockDevice', 'block device'),
    unmade('no-medium', 'emptyDir: a medium that nobody knows', emptyDir({ medium: 'Paper' }), 'unknown storage medium "Paper"'),
    unmade(
      'no-huge-pages',
      'emptyDir: huge pages that no container asks for',
      emptyDir({ medium: 'HugePages' }),
      'medium HugePages: hugePages storage requested, but there is no resource request for huge pages',
    ),
    unmade(
      'git',
      'gitRepo: no kubelet does it any more',
      { gitRepo: { repository: 'https://git.example.com/x.git' } },
      'git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate `GitRepoVolumeDriver`',
    ),
    unmounted('no-variable', 'subPathExpr: a variable that is not there', emptyDir(), expression('$(ABSENT)'), 'missing value for ABSENT'),
    unmounted('absolute', 'subPathExpr: an absolute path', emptyDir(), expression('$(ROOT)'), 'error SubPath `/tmp` must not be an absolute path'),
    unmounted(
      'upwards',
      'subPathExpr: a path that leads up',
      emptyDir(),
      expression('a/$(UP)'),
      "unable to provision SubPath `a/..`: must not contain '..'",
    ),
    unmounted(
      'linked',
      'subPath: a link of the volume that leads out of it',
      hostPath(`${host}/links`),
      { subPath: 'out/inside' },
      'failed to prepare subPath for volumeMount "it" of container "main"',
    ),
    unmounted(
      'recursive',
      'recursiveReadOnly: where the runtime cannot',
      emptyDir(),
      { readOnly: true, recursiveReadOnly: 'Enabled' },
      'volume "it" requested recursive read-only mode, but it is not supported by the runtime',
    ),
    unmounted(
      'image',
      'image: a runtime that cannot mount images',
      { image: { reference: 'docker.io/library/busybox:latest', pullPolicy: 'IfNotPresent' } },
      {},
      /^volume "it" is an image, and containerd 1\.\S+ cannot mount images: 2\.1 and newer can$/,
    ),
  ];
}
