import { existsSync, readFileSync } from 'node:fs';
import type { Refusal } from './matrix.ts';

// Security contexts that may not be, and what is said of them.

const rejected = (pod: string, feature: string, spec: object, reason: string, why: string): Refusal => ({
  feature,
  pod,
  spec,
  by: 'status',
  reason,
  message: `Pod was rejected: ${why}`,
});
const notAsRoot = (pod: string, feature: string, message: string, container: object, spec: object = {}): Refusal => ({
  feature,
  pod,
  spec,
  container,
  by: 'waiting',
  reason: 'CreateContainerConfigError',
  message: ({ metadata }) => `${message} (pod: "${pod}_default(${metadata.uid})", container: main)`,
});
const hasAppArmor =
  existsSync('/sys/module/apparmor/parameters/enabled') && readFileSync('/sys/module/apparmor/parameters/enabled', 'utf8').startsWith('Y');

/** @param walker an image whose user has that name */
export const refusedContexts = (walker: string): readonly Refusal[] => [
  notAsRoot('image-root', 'runAsNonRoot: an image that runs as root', 'container has runAsNonRoot and image will run as root', {
    securityContext: { runAsNonRoot: true },
  }),
  notAsRoot(
    'pod-root',
    'runAsNonRoot: of the pod',
    'container has runAsNonRoot and image will run as root',
    {},
    { securityContext: { runAsNonRoot: true } },
  ),
  notAsRoot('user-root', 'runAsNonRoot: as user 0', "container's runAsUser breaks non-root policy", {
    securityContext: { runAsNonRoot: true, runAsUser: 0 },
  }),
  notAsRoot(
    'named',
    'runAsNonRoot: a user without a number',
    'container has runAsNonRoot and image has non-numeric user (walker), cannot verify user is non-root',
    { image: walker, securityContext: { runAsNonRoot: true } },
  ),
  {
    feature: 'seccompProfile: a profile that is not there',
    pod: 'no-profile',
    container: { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'absent.json' } } },
    by: 'waiting',
    reason: 'CreateContainerError',
    message: /absent\.json/,
  },
  {
    feature: 'runtimeClassName: a handler that the runtime does not have',
    pod: 'no-handler',
    spec: { runtimeClassName: 'unknown' },
    by: 'event',
    reason: 'FailedCreatePodSandBox',
    message: /no runtime for "unknown" is configured$/,
  },
  {
    feature: 'hostUsers: false where the runtime has no user namespaces',
    pod: 'own-users',
    spec: { hostUsers: false },
    by: 'event',
    reason: 'FailedCreatePodSandBox',
    message: /can't set `spec.hostUsers: false`, runtime does not support user namespaces$/,
  },
  rejected(
    'sysctl',
    'sysctls: unsafe ones',
    { securityContext: { sysctls: [{ name: 'kernel.sem', value: '1' }] } },
    'SysctlForbidden',
    'forbidden sysctl: "kernel.sem" not allowlisted',
  ),
  rejected(
    'strict',
    'supplementalGroupsPolicy: Strict where the runtime cannot',
    { securityContext: { supplementalGroupsPolicy: 'Strict' } },
    'SupplementalGroupsPolicyNotSupported',
    'SupplementalGroupsPolicy=Strict is not supported in this node',
  ),
  ...(hasAppArmor
    ? []
    : [
        rejected(
          'apparmor',
          'appArmorProfile: where the kernel has none',
          { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } },
          'AppArmor',
          'Cannot enforce AppArmor: AppArmor is not enabled on the host',
        ),
      ]),
];
