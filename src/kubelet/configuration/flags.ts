import { InvalidInput } from '#base/errors.ts';

/** What the words of a command line say, flag by flag; a flag that was given twice has its last value, or all of them joined by commas. */
export interface KubeletFlags {
  /** Flags that are no field of the configuration. */
  readonly own: Readonly<Partial<Record<OwnFlag, string>>>;
  /** What lies over the configuration file: the fields that flags set. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

export const ownFlags = [
  'name',
  'data-dir',
  'kubeconfig',
  'bootstrap-kubeconfig',
  'config',
  'config-dir',
  'hostname-override',
  'node-ip',
  'node-labels',
  'root-dir',
  'cert-dir',
  'cloud-provider',
  'image-credential-provider-config',
  'image-credential-provider-bin-dir',
  'timing',
  'maximum-dead-containers',
  'maximum-dead-containers-per-container',
  'minimum-container-ttl-duration',
  'v',
] as const;
export type OwnFlag = (typeof ownFlags)[number];

/** How a flag's text becomes a field's value. `map=` and `map<`: pairs with that sign between; switches: pairs with true or false. */
type Form = 'text' | 'number' | 'boolean' | 'list' | 'map=' | 'map<' | 'switches' | 'headers' | 'taints';

/** Upstream's flags for fields of the configuration. */
export const fieldFlags: Readonly<Record<string, readonly [path: string, form: Form]>> = {
  address: ['address', 'text'],
  'allowed-unsafe-sysctls': ['allowedUnsafeSysctls', 'list'],
  'anonymous-auth': ['authentication.anonymous.enabled', 'boolean'],
  'authentication-token-webhook': ['authentication.webhook.enabled', 'boolean'],
  'authentication-token-webhook-cache-ttl': ['authentication.webhook.cacheTTL', 'text'],
  'authorization-mode': ['authorization.mode', 'text'],
  'authorization-webhook-cache-authorized-ttl': ['authorization.webhook.cacheAuthorizedTTL', 'text'],
  'authorization-webhook-cache-unauthorized-ttl': ['authorization.webhook.cacheUnauthorizedTTL', 'text'],
  'cgroup-driver': ['cgroupDriver', 'text'],
  'cgroup-root': ['cgroupRoot', 'text'],
  'cgroups-per-qos': ['cgroupsPerQOS', 'boolean'],
  'client-ca-file': ['authentication.x509.clientCAFile', 'text'],
  'cluster-dns': ['clusterDNS', 'list'],
  'cluster-domain': ['clusterDomain', 'text'],
  'container-log-max-files': ['containerLogMaxFiles', 'number'],
  'container-log-max-size': ['containerLogMaxSize', 'text'],
  'container-runtime-endpoint': ['containerRuntimeEndpoint', 'text'],
  'contention-profiling': ['enableContentionProfiling', 'boolean'],
  'cpu-cfs-quota': ['cpuCFSQuota', 'boolean'],
  'cpu-cfs-quota-period': ['cpuCFSQuotaPeriod', 'text'],
  'cpu-manager-policy': ['cpuManagerPolicy', 'text'],
  'cpu-manager-policy-options': ['cpuManagerPolicyOptions', 'map='],
  'cpu-manager-reconcile-period': ['cpuManagerReconcilePeriod', 'text'],
  'enable-controller-attach-detach': ['enableControllerAttachDetach', 'boolean'],
  'enable-debugging-handlers': ['enableDebuggingHandlers', 'boolean'],
  'enable-server': ['enableServer', 'boolean'],
  'enforce-node-allocatable': ['enforceNodeAllocatable', 'list'],
  'event-burst': ['eventBurst', 'number'],
  'event-qps': ['eventRecordQPS', 'number'],
  'eviction-hard': ['evictionHard', 'map<'],
  'eviction-max-pod-grace-period': ['evictionMaxPodGracePeriod', 'number'],
  'eviction-minimum-reclaim': ['evictionMinimumReclaim', 'map='],
  'eviction-pressure-transition-period': ['evictionPressureTransitionPeriod', 'text'],
  'eviction-soft': ['evictionSoft', 'map<'],
  'eviction-soft-grace-period': ['evictionSoftGracePeriod', 'map='],
  'fail-cgroupv1': ['failCgroupV1', 'boolean'],
  'fail-swap-on': ['failSwapOn', 'boolean'],
  'feature-gates': ['featureGates', 'switches'],
  'file-check-frequency': ['fileCheckFrequency', 'text'],
  'hairpin-mode': ['hairpinMode', 'text'],
  'healthz-bind-address': ['healthzBindAddress', 'text'],
  'healthz-port': ['healthzPort', 'number'],
  'http-check-frequency': ['httpCheckFrequency', 'text'],
  'image-gc-high-threshold': ['imageGCHighThresholdPercent', 'number'],
  'image-gc-low-threshold': ['imageGCLowThresholdPercent', 'number'],
  'image-service-endpoint': ['imageServiceEndpoint', 'text'],
  'iptables-drop-bit': ['iptablesDropBit', 'number'],
  'iptables-masquerade-bit': ['iptablesMasqueradeBit', 'number'],
  'kernel-memcg-notification': ['kernelMemcgNotification', 'boolean'],
  'kube-api-burst': ['kubeAPIBurst', 'number'],
  'kube-api-content-type': ['contentType', 'text'],
  'kube-api-qps': ['kubeAPIQPS', 'number'],
  'kube-reserved': ['kubeReserved', 'map='],
  'kube-reserved-cgroup': ['kubeReservedCgroup', 'text'],
  'kubelet-cgroups': ['kubeletCgroups', 'text'],
  'local-storage-capacity-isolation': ['localStorageCapacityIsolation', 'boolean'],
  'make-iptables-util-chains': ['makeIPTablesUtilChains', 'boolean'],
  'manifest-url': ['staticPodURL', 'text'],
  'manifest-url-header': ['staticPodURLHeader', 'headers'],
  'max-open-files': ['maxOpenFiles', 'number'],
  'max-pods': ['maxPods', 'number'],
  'memory-manager-policy': ['memoryManagerPolicy', 'text'],
  'minimum-image-ttl-duration': ['imageMinimumGCAge', 'text'],
  'node-status-max-images': ['nodeStatusMaxImages', 'number'],
  'node-status-update-frequency': ['nodeStatusUpdateFrequency', 'text'],
  'oom-score-adj': ['oomScoreAdj', 'number'],
  'pod-cidr': ['podCIDR', 'text'],
  'pod-manifest-path': ['staticPodPath', 'text'],
  'pod-max-pids': ['podPidsLimit', 'number'],
  'pods-per-core': ['podsPerCore', 'number'],
  port: ['port', 'number'],
  'protect-kernel-defaults': ['protectKernelDefaults', 'boolean'],
  'provider-id': ['providerID', 'text'],
  'qos-reserved': ['qosReserved', 'map='],
  'read-only-port': ['readOnlyPort', 'number'],
  'register-node': ['registerNode', 'boolean'],
  'register-with-taints': ['registerWithTaints', 'taints'],
  'registry-burst': ['registryBurst', 'number'],
  'registry-qps': ['registryPullQPS', 'number'],
  'reserved-cpus': ['reservedSystemCPUs', 'text'],
  'resolv-conf': ['resolvConf', 'text'],
  'rotate-certificates': ['rotateCertificates', 'boolean'],
  'rotate-server-certificates': ['serverTLSBootstrap', 'boolean'],
  'runtime-request-timeout': ['runtimeRequestTimeout', 'text'],
  'seccomp-default': ['seccompDefault', 'boolean'],
  'serialize-image-pulls': ['serializeImagePulls', 'boolean'],
  'show-hidden-metrics-for-version': ['showHiddenMetricsForVersion', 'text'],
  'streaming-connection-idle-timeout': ['streamingConnectionIdleTimeout', 'text'],
  'sync-frequency': ['syncFrequency', 'text'],
  'system-cgroups': ['systemCgroups', 'text'],
  'system-reserved': ['systemReserved', 'map='],
  'system-reserved-cgroup': ['systemReservedCgroup', 'text'],
  'tls-cert-file': ['tlsCertFile', 'text'],
  'tls-cipher-suites': ['tlsCipherSuites', 'list'],
  'tls-min-version': ['tlsMinVersion', 'text'],
  'tls-private-key-file': ['tlsPrivateKeyFile', 'text'],
  'topology-manager-policy': ['topologyManagerPolicy', 'text'],
  'topology-manager-policy-options': ['topologyManagerPolicyOptions', 'map='],
  'topology-manager-scope': ['topologyManagerScope', 'text'],
  'volume-plugin-dir': ['volumePluginDir', 'text'],
  'volume-stats-agg-period': ['volumeStatsAggPeriod', 'text'],
};

/** Every flag, for a message and for the documentation. */
export const flagNames: readonly string[] = [...ownFlags, ...Object.keys(fieldFlags)].sort();

/**
 * Reads flags as Go's programs do: `--name value` and `--name=value`, `--switch` and `--switch=false`, one dash or two.
 *
 * @throws {InvalidInput} that names the flag that is unknown, or whose value is no value for it
 */
export function parseKubeletFlags(words: readonly string[]): KubeletFlags {
  const given = new Map<string, string>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const found = /^--?([a-z0-9-]+)(?:=(.*))?$/s.exec(word);
    if (found === null) throw new InvalidInput({ message: `unknown command ${word}`, hint: 'the kubelet takes flags only' });
    const [, name = '', inline] = found;
    const form = formOf(name);
    if (form === undefined) throw new InvalidInput({ message: `unknown flag: --${name}`, hint: likely(name) });
    let value = inline ?? (form === 'boolean' ? 'true' : undefined);
    if (value === undefined) {
      at += 1;
      value = words[at];
    }
    if (value === undefined) throw new InvalidInput({ message: `flag needs an argument: --${name}` });
    const earlier = given.get(name);
    const isJoined = earlier !== undefined && earlier !== '' && (isList(form) || name === 'node-labels' || name === 'node-ip');
    given.set(name, isJoined ? `${earlier},${value}` : value);
  }
  return readFlags(given);
}

function readFlags(given: ReadonlyMap<string, string>): KubeletFlags {
  const own: Partial<Record<OwnFlag, string>> = {};
  const configuration: Record<string, unknown> = {};
  for (const [name, value] of given) {
    const ownName = ownFlags.find((one) => one === name);
    if (ownName !== undefined) own[ownName] = value;
    const field = fieldFlags[name];
    if (field !== undefined) put(configuration, field[0].split('.'), fieldValue(name, field[1], value));
  }
  return { own, configuration };
}

/** @returns the flags that somebody may have meant */
function likely(name: string): string {
  const words = name.split('-').filter((word) => word.length > 2);
  const near = flagNames.filter((flag) => words.length > 0 && words.every((word) => flag.includes(word.slice(0, 4))));
  const all = '`kubernode kubelet --help` lists them';
  return near.length === 0 || near.length > 5 ? all : `did you mean --${near.join(' or --')}? ${all}`;
}

function formOf(name: string): Form | undefined {
  return ownFlags.some((one) => one === name) ? 'text' : Object.hasOwn(fieldFlags, name) ? fieldFlags[name]?.[1] : undefined;
}

function isList(form: Form): boolean {
  return form !== 'text' && form !== 'number' && form !== 'boolean';
}

function put(into: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    into[first] = value;
    return;
  }
  const inner: Record<string, unknown> = { ...(into[first] as Record<string, unknown> | undefined) }; // made by the line below, or not there
  put(inner, rest, value);
  into[first] = inner;
}

function fieldValue(flag: string, form: Form, text: string): unknown {
  const wrong = (what: string) => new InvalidInput({ message: `invalid argument ${JSON.stringify(text)} for "--${flag}" flag: ${what}` });
  switch (form) {
    case 'text':
      return text;
    case 'number':
      if (!/^-?\d+$/.test(text)) throw wrong('it is not a whole number');
      return Number(text);
    case 'boolean':
      if (!/^(true|false|1|0|t|f|T|F|TRUE|FALSE|True|False)$/.test(text)) throw wrong('it is neither true nor false');
      return /^(1|t|true)$/i.test(text);
    case 'list':
      return parts(text);
    case 'switches':
      return Object.fromEntries(
        parts(text).map((part) => {
          const [name, value] = pairOf(part, '=', wrong);
          return [name, fieldValue(flag, 'boolean', value)];
        }),
      );
    case 'headers':
      return headersOf(parts(text).map((part) => pairOf(part, ':', wrong)));
    case 'map=':
    case 'map<':
      return Object.fromEntries(parts(text).map((part) => pairOf(part, form === 'map=' ? '=' : '<', wrong)));
    case 'taints':
      return parts(text).map((part) => taintOf(part, wrong));
  }
}

function headersOf(pairs: readonly (readonly [string, string])[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(pairs.map(([name]) => [name, pairs.flatMap(([other, value]) => (other === name ? [value] : []))]));
}

function parts(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function pairOf(part: string, sign: string, wrong: (what: string) => InvalidInput): readonly [string, string] {
  const at = part.indexOf(sign);
  if (at < 1) throw wrong(`${part} is not NAME${sign}VALUE`);
  return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
}

/** `key=value:Effect` or `key:Effect`. */
function taintOf(part: string, wrong: (what: string) => InvalidInput): Readonly<Record<string, string>> {
  const found = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(part);
  if (found === null) throw wrong(`${part} is not KEY=VALUE:EFFECT`);
  const [, key = '', value = '', effect = ''] = found;
  return { key, value, effect };
}

/** `a=b,c=d` of `--node-labels`. @throws {InvalidInput} */
export function labelsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    parts(text).map((part) => pairOf(part, '=', (what) => new InvalidInput({ message: `invalid argument for "--node-labels" flag: ${what}` }))),
  );
}
