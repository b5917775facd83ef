/** How far a feature is, and what this kubelet does of it whatever the gate says. */
export interface FeatureGate {
  readonly stage: 'alpha' | 'beta' | 'stable' | 'deprecated';
  /** What upstream does when nobody sets it. */
  readonly default: boolean;
  /** Upstream lets nobody change it any more. */
  readonly isLocked: boolean;
  /** What we do; there is no switch in our code. */
  readonly ours: boolean;
}

const gate = (stage: FeatureGate['stage'], isOn: boolean, ours: boolean, isLocked = false): FeatureGate => ({ stage, default: isOn, isLocked, ours });
const stable = gate('stable', true, true, true);
const betaOn = gate('beta', true, true);
const absent = (stage: 'alpha' | 'beta', isOn = false): FeatureGate => gate(stage, isOn, false);

/** The gates of Kubernetes 1.36 that concern a kubelet. Source: upstream's table of gates. */
export const featureGates: Readonly<Record<string, FeatureGate>> = {
  CPUManagerPolicyAlphaOptions: absent('alpha'),
  CPUManagerPolicyBetaOptions: betaOn,
  CPUManagerPolicyOptions: stable,
  ClusterTrustBundleProjection: absent('beta'),
  ContainerCheckpoint: betaOn,
  ContainerRestartRules: betaOn,
  ContainerStopSignals: gate('alpha', false, true),
  CustomCPUCFSQuotaPeriod: gate('stable', true, true),
  DRAPartitionableDevices: absent('alpha'),
  DevicePluginCDIDevices: stable,
  DynamicResourceAllocation: gate('stable', true, false, true),
  EnvFiles: betaOn,
  EventedPLEG: gate('alpha', false, true),
  ExecProbeTimeout: gate('deprecated', true, true),
  GracefulNodeShutdown: betaOn,
  GracefulNodeShutdownBasedOnPodPriority: betaOn,
  HostnameOverride: betaOn,
  ImageMaximumGCAge: stable,
  ImageVolume: stable,
  InPlacePodLevelResourcesVerticalScaling: betaOn,
  InPlacePodVerticalScaling: stable,
  InPlacePodVerticalScalingExclusiveCPUs: absent('alpha'),
  InPlacePodVerticalScalingExclusiveMemory: absent('alpha'),
  KubeletCgroupDriverFromCRI: stable,
  KubeletCrashLoopBackOffMax: betaOn,
  KubeletEnsureSecretPulledImages: betaOn,
  KubeletFineGrainedAuthz: stable,
  KubeletInUserNamespace: absent('alpha'),
  KubeletPSI: betaOn,
  KubeletPodResourcesGet: absent('alpha'),
  KubeletSeparateDiskGC: betaOn,
  KubeletServiceAccountTokenForCredentialProviders: betaOn,
  KubeletTracing: gate('stable', true, false, true),
  LocalStorageCapacityIsolationFSQuotaMonitoring: absent('beta'),
  MemoryManager: stable,
  MemoryQoS: gate('alpha', false, true),
  NodeDeclaredFeatures: absent('beta', true),
  NodeLogQuery: gate('stable', true, true),
  NodeSwap: stable,
  PodAndContainerStatsFromCRI: absent('alpha'),
  PodLevelResources: betaOn,
  PodLifecycleSleepAction: stable,
  PodObservedGenerationTracking: stable,
  PodReadyToStartContainersCondition: betaOn,
  ProcMountType: stable,
  ReduceDefaultCrashLoopBackOffDecay: absent('alpha'),
  RecursiveReadOnlyMounts: stable,
  ResourceHealthStatus: absent('beta', true),
  RestartAllContainersOnContainerExits: betaOn,
  RotateKubeletServerCertificate: betaOn,
  SidecarContainers: stable,
  SupplementalGroupsPolicy: stable,
  SystemdWatchdog: gate('stable', true, false, true),
  TopologyManagerPolicyAlphaOptions: absent('alpha'),
  TopologyManagerPolicyBetaOptions: betaOn,
  TopologyManagerPolicyOptions: stable,
  UserNamespacesSupport: stable,
  WindowsHostNetwork: absent('alpha'),
};

const groups: readonly string[] = ['AllAlpha', 'AllBeta'];

/** @returns what is wrong, in upstream's words */
export function featureGateProblems(given: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(given).flatMap(([name, wanted]) => {
    if (groups.includes(name)) return [];
    const known = featureGates[name];
    if (known === undefined) return [`unrecognized feature gate: ${name}`];
    if (known.isLocked && wanted !== known.default) return [`cannot set feature gate ${name} to ${wanted}, feature is locked to ${known.default}`];
    return [];
  });
}

/** Gates that want what this kubelet does not do: they are taken, and change nothing. */
export function gatesWithoutEffect(given: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(given).flatMap(([name, wanted]) => (groups.includes(name) || featureGates[name]?.ours !== wanted ? [name] : []));
}
