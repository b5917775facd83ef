import type { Pod, PodSecurityContext } from '#api/types/core-v1.ts';
import { AppError } from '#base/errors.ts';
import {
  type LinuxSandboxSecurityContext,
  NamespaceMode,
  type NamespaceOption,
  type PodSandboxConfig,
  type PortMapping,
  Protocol,
  type SELinuxOption,
  SecurityProfile_ProfileType,
  SupplementalGroupsPolicy,
  type UserNamespace,
} from '#wire/generated/cri.ts';
import { type DnsDefaults, type DnsResult, dnsConfigOf } from './dns-config.ts';
import { podHostname } from './hostname.ts';
import { label } from './labels.ts';
import type { SandboxResources } from './sandbox-resources.ts';

export interface SandboxConfigInput {
  readonly pod: Pod;
  readonly attempt: number;
  readonly cgroupParent: string;
  readonly logDirectory: string;
  readonly dns: DnsDefaults;
  readonly users: UserNamespace;
  readonly resources: SandboxResources;
}

/** The spec asks for a policy that this kubelet does not know. */
export class UnsupportedPolicy extends AppError {
  readonly code = 'UNSUPPORTED_POLICY';
  readonly retry = 'never';
}

/**
 * What `RunPodSandbox` is asked for.
 *
 * @throws {BadHostname}, {UnsupportedPolicy}
 */
export function sandboxConfig(input: SandboxConfigInput): { readonly config: PodSandboxConfig; readonly warnings: DnsResult['warnings'] } {
  const { pod } = input;
  const { name, namespace, uid } = pod.metadata;
  const hostNetwork = pod.spec?.hostNetwork === true;
  const dns = dnsConfigOf(pod, input.dns);
  const config: PodSandboxConfig = {
    metadata: { name, namespace, uid, attempt: input.attempt },
    hostname: hostNetwork ? '' : podHostname(pod, input.dns.clusterDomain).kernelName,
    logDirectory: input.logDirectory,
    dnsConfig: dns.config,
    portMappings: portMappings(pod),
    labels: { ...pod.metadata.labels, [label.podName]: name, [label.podNamespace]: namespace, [label.podUid]: uid },
    annotations: { ...pod.metadata.annotations },
    linux: {
      cgroupParent: input.cgroupParent,
      securityContext: securityContext(pod, input.users),
      sysctls: Object.fromEntries((pod.spec?.securityContext?.sysctls ?? []).map((sysctl) => [sysctl.name.replaceAll('/', '.'), sysctl.value])),
      overhead: input.resources.overhead,
      resources: input.resources.resources,
    },
    windows: undefined,
  };
  return { config, warnings: dns.warnings };
}

/** Namespaces that a pod's sandbox and containers share with the node or with each other. */
export function namespaceOptions(pod: Pod, users: UserNamespace): NamespaceOption {
  const spec = pod.spec;
  const pid = spec?.hostPID === true ? NamespaceMode.NODE : spec?.shareProcessNamespace === true ? NamespaceMode.POD : NamespaceMode.CONTAINER;
  return {
    network: spec?.hostNetwork === true ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: spec?.hostIPC === true ? NamespaceMode.NODE : NamespaceMode.POD,
    pid,
    targetId: '',
    usernsOptions: users,
  };
}

export function seLinuxOption(options: PodSecurityContext['seLinuxOptions']): SELinuxOption | undefined {
  if (options === undefined) return undefined;
  return { user: options.user ?? '', role: options.role ?? '', type: options.type ?? '', level: options.level ?? '' };
}

/** @throws {UnsupportedPolicy} */
export function groupsPolicy(context: PodSecurityContext | undefined): SupplementalGroupsPolicy {
  const policy = context?.supplementalGroupsPolicy ?? 'Merge';
  if (policy === 'Merge') return SupplementalGroupsPolicy.Merge;
  if (policy === 'Strict') return SupplementalGroupsPolicy.Strict;
  throw new UnsupportedPolicy({ message: `unsupported supplementalGroupsPolicy: ${policy}` });
}

function securityContext(pod: Pod, users: UserNamespace): LinuxSandboxSecurityContext {
  const spec = pod.spec;
  const context = spec?.securityContext;
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])];
  return {
    namespaceOptions: namespaceOptions(pod, users),
    selinuxOptions: seLinuxOption(context?.seLinuxOptions),
    runAsUser: context?.runAsUser === undefined ? undefined : { value: context.runAsUser },
    runAsGroup: context?.runAsGroup === undefined ? undefined : { value: context.runAsGroup },
    readonlyRootfs: false,
    supplementalGroups: [...(context?.fsGroup === undefined ? [] : [context.fsGroup]), ...(context?.supplementalGroups ?? [])],
    supplementalGroupsPolicy: groupsPolicy(context),
    privileged: all.some((container) => container.securityContext?.privileged === true),
    seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault, localhostRef: '' },
    apparmor: undefined,
    seccompProfilePath: '',
  };
}

/** Of app containers only; within one container the first of equals counts. */
function portMappings(pod: Pod): PortMapping[] {
  return (pod.spec?.containers ?? []).flatMap((container) => {
    const byName = new Map<string, PortMapping>();
    for (const port of container.ports ?? []) {
      const protocol = port.protocol ?? 'TCP';
      const hostPort = port.hostPort ?? 0;
      const hostIp = port.hostIP ?? '';
      const key = port.name ?? `${hostIp.includes(':') ? 'v6' : 'v4'}-${protocol}-${hostIp}-${port.containerPort}-${hostPort}`;
      if (byName.has(key)) continue;
      byName.set(key, { protocol: protocolOf(protocol), containerPort: port.containerPort, hostPort, hostIp });
    }
    return [...byName.values()];
  });
}

function protocolOf(name: string): Protocol {
  return name === 'UDP' ? Protocol.UDP : name === 'SCTP' ? Protocol.SCTP : Protocol.TCP;
}
