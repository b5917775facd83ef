import type { AppArmorProfile, Container, Pod, SeccompProfile } from '#api/types/core-v1.ts';
import {
  type LinuxContainerSecurityContext,
  NamespaceMode,
  type SecurityProfile,
  SecurityProfile_ProfileType,
  type UserNamespace,
} from '#wire/generated/cri.ts';
import { ContainerConfigError } from './environment.ts';
import { groupsPolicy, namespaceOptions, seLinuxOption } from './sandbox-config.ts';

/** The user that the image asks for. */
export interface ImageUser {
  /** Numeric user, if that is what the image has. */
  readonly uid: number | undefined;
  readonly username: string;
}

const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];
const maxUid = 2_147_483_647;

export interface SecurityInput {
  readonly image: ImageUser;
  /** Container whose processes an ephemeral container shares, '' for none. */
  readonly targetId: string;
  readonly users: UserNamespace;
  /** Where local seccomp profiles are. */
  readonly seccompRoot: string;
  /** What says nothing about seccomp has the runtime's own profile. */
  readonly seccompDefault: boolean;
  /** Files of this node's processors that nobody may see, beside those that every node has. */
  readonly maskedOnNode: readonly string[];
}

/**
 * What a container may do; its own wishes go before those of the pod.
 *
 * @throws {ContainerConfigError} when it would run as root and may not, or its profile is incomplete; {UnsupportedPolicy}
 */
export function containerSecurityContext(pod: Pod, container: Container, input: SecurityInput): LinuxContainerSecurityContext {
  const { image, targetId } = input;
  const own = container.securityContext;
  const shared = pod.spec?.securityContext;
  const runAsUser = own?.runAsUser ?? shared?.runAsUser;
  const runAsGroup = own?.runAsGroup ?? shared?.runAsGroup;
  if ((own?.runAsNonRoot ?? shared?.runAsNonRoot) === true) refuseRoot(pod, container, runAsUser, image);
  const uid = runAsUser ?? image.uid;
  const namespaces = namespaceOptions(pod, input.users);
  const unmasked = own?.procMount === 'Unmasked';
  const apparmor = appArmorOf(pod, container);
  return {
    capabilities: {
      addCapabilities: [...(own?.capabilities?.add ?? [])],
      dropCapabilities: [...(own?.capabilities?.drop ?? [])],
      addAmbientCapabilities: [],
    },
    privileged: own?.privileged === true,
    namespaceOptions:
      targetId !== '' && namespaces.pid === NamespaceMode.CONTAINER ? { ...namespaces, pid: NamespaceMode.TARGET, targetId } : namespaces,
    selinuxOptions: seLinuxOption(own?.seLinuxOptions ?? shared?.seLinuxOptions),
    runAsUser: uid === undefined ? undefined : { value: uid },
    runAsGroup: runAsGroup === undefined ? undefined : { value: runAsGroup },
    runAsUsername: uid === undefined ? image.username : '',
    readonlyRootfs: own?.readOnlyRootFilesystem === true,
    supplementalGroups: [...(shared?.fsGroup === undefined ? [] : [shared.fsGroup]), ...(shared?.supplementalGroups ?? [])],
    supplementalGroupsPolicy: groupsPolicy(shared),
    noNewPrivs: own?.allowPrivilegeEscalation === false,
    maskedPaths: unmasked ? [] : [...maskedPaths, ...input.maskedOnNode],
    readonlyPaths: unmasked ? [] : [...readonlyPaths],
    seccomp: seccompOf(
      own?.seccompProfile ?? shared?.seccompProfile ?? (input.seccompDefault ? { type: 'RuntimeDefault' } : undefined),
      input.seccompRoot,
    ),
    apparmor,
    apparmorProfile: apparmor === undefined ? '' : legacyName(apparmor),
    seccompProfilePath: '',
  };
}

function refuseRoot(pod: Pod, container: Container, runAsUser: number | undefined, image: ImageUser): void {
  const { name, namespace, uid } = pod.metadata;
  const where = `(pod: "${name}_${namespace}(${uid})", container: ${container.name})`;
  const refuse = (what: string) => {
    throw new ContainerConfigError({ message: `${what} ${where}`, hint: 'set runAsUser, or take runAsNonRoot back' });
  };
  if (runAsUser === 0) refuse("container's runAsUser breaks non-root policy");
  if (runAsUser !== undefined) return;
  if (image.username !== '') {
    refuse(`container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root`);
  }
  const uidOfImage = image.uid ?? 0;
  if (uidOfImage === 0) refuse('container has runAsNonRoot and image will run as root');
  if (uidOfImage < 0 || uidOfImage > maxUid) {
    refuse(`container has runAsNonRoot and image has an invalid user id (${uidOfImage}). (Must be 1-(${maxUid})): ${container.name}`);
  }
}

function seccompOf(profile: SeccompProfile | undefined, root: string): SecurityProfile {
  switch (profile?.type) {
    case 'RuntimeDefault':
      return { profileType: SecurityProfile_ProfileType.RuntimeDefault, localhostRef: '' };
    case 'Localhost': {
      const name = profile.localhostProfile ?? '';
      if (name === '') throw new ContainerConfigError({ message: 'localhostProfile must be set if seccompProfile type is Localhost.' });
      return { profileType: SecurityProfile_ProfileType.Localhost, localhostRef: `${root}/${name}` };
    }
    default:
      return { profileType: SecurityProfile_ProfileType.Unconfined, localhostRef: '' };
  }
}

function appArmorOf(pod: Pod, container: Container): SecurityProfile | undefined {
  const own = container.securityContext?.appArmorProfile;
  if (own !== undefined) return appArmorProfile(own);
  const legacy = pod.metadata.annotations?.[`container.apparmor.security.beta.kubernetes.io/${container.name}`];
  if (legacy !== undefined) {
    if (legacy === 'runtime/default') return appArmorProfile({ type: 'RuntimeDefault' });
    if (legacy === 'unconfined') return appArmorProfile({ type: 'Unconfined' });
    return legacy.startsWith('localhost/') ? appArmorProfile({ type: 'Localhost', localhostProfile: legacy.slice('localhost/'.length) }) : undefined;
  }
  const shared = pod.spec?.securityContext?.appArmorProfile;
  return shared === undefined ? undefined : appArmorProfile(shared);
}

function appArmorProfile({ type, localhostProfile }: AppArmorProfile): SecurityProfile {
  if (type === 'Localhost') return { profileType: SecurityProfile_ProfileType.Localhost, localhostRef: localhostProfile ?? '' };
  const profileType = type === 'RuntimeDefault' ? SecurityProfile_ProfileType.RuntimeDefault : SecurityProfile_ProfileType.Unconfined;
  return { profileType, localhostRef: '' };
}

function legacyName({ profileType, localhostRef }: SecurityProfile): string {
  if (profileType === SecurityProfile_ProfileType.Localhost) return `localhost/${localhostRef}`;
  return profileType === SecurityProfile_ProfileType.RuntimeDefault ? 'runtime/default' : 'unconfined';
}
