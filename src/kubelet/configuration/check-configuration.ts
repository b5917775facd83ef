import { normalize } from 'node:path';
import { goDuration } from '../runtime/go-duration.ts';
import { featureGateProblems } from './feature-gates.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

/** What is wrong with fields that are right each by itself, in upstream's words. */
export function configurationProblems(configuration: KubeletConfiguration): readonly string[] {
  const fields = [...imageProblems(configuration), ...logProblems(configuration), ...otherProblems(configuration)];
  return [...featureGateProblems(configuration.featureGates), ...fields.map((problem) => `invalid configuration: ${problem}`)];
}

function imageProblems(configuration: KubeletConfiguration): readonly string[] {
  const {
    imageGCLowThresholdPercent: low,
    imageGCHighThresholdPercent: high,
    imageMinimumGCAge: youngest,
    imageMaximumGCAge: oldest,
  } = configuration;
  const { serializeImagePulls, maxParallelImagePulls = 1, imagePullCredentialsVerificationPolicy: policy } = configuration;
  return given({
    [`imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`]:
      low >= high,
    [`imageMaximumGCAge ${goDuration(oldest)} must be greater than imageMinimumGCAge ${goDuration(youngest)}`]: oldest > 0 && oldest <= youngest,
    'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false':
      serializeImagePulls === true && maxParallelImagePulls > 1,
    'can\'t set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not "NeverVerifyAllowlistedImages"':
      configuration.preloadedImagesVerificationAllowlist.length > 0 && policy !== 'NeverVerifyAllowlistedImages',
  });
}

function logProblems({ podLogsDir: path, enableSystemLogQuery, enableSystemLogHandler }: KubeletConfiguration): readonly string[] {
  const text = JSON.stringify(path);
  return given({
    [`pod logs path ${text} must be absolute path`]: path !== '' && !path.startsWith('/'),
    [`pod logs path ${text} must be normalized`]: path !== '' && normalize(path).replace(/(.)\/$/, '$1') !== path,
    [`pod logs path ${text} mut contains ASCII characters only`]: /\P{ASCII}/u.test(path), // upstream's spelling
    'enableSystemLogHandler is required for enableSystemLogQuery': enableSystemLogQuery && !enableSystemLogHandler,
  });
}

const hairpinModes: readonly string[] = ['none', 'hairpin-veth', 'promiscuous-bridge'];

function otherProblems(configuration: KubeletConfiguration): readonly string[] {
  const { systemCgroups, cgroupRoot, registerWithTaints, memoryThrottlingFactor: factor, hairpinMode } = configuration;
  const { enforceNodeAllocatable: enforced } = configuration;
  const twice = new Set(enforced.filter((one, at) => enforced.indexOf(one) < at));
  const seconds = configuration.crashLoopBackOff.maxContainerRestartPeriod / 1000;
  return [
    ...given({
      'tlsCipherSuites (--tls-cipher-suites) cannot be chosen in this kubelet': configuration.tlsCipherSuites.length > 0,
      'systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified': systemCgroups !== '' && cgroupRoot === '',
      'taint.TimeAdded is not nil': registerWithTaints.some(({ timeAdded }) => timeAdded !== undefined),
      [`CrashLoopBackOff.MaxContainerRestartPeriod (got: ${seconds} seconds) must be set between 1s and 300s`]: seconds < 1 || seconds > 300,
      [`memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`]: factor <= 0,
      [`option ${JSON.stringify(hairpinMode)} specified for hairpinMode (--hairpin-mode). Valid options are "none", "hairpin-veth" or "promiscuous-bridge"`]:
        !hairpinModes.includes(hairpinMode),
    }),
    ...[...twice].map((one) => `duplicated enforcements ${JSON.stringify(one)} in enforceNodeAllocatable (--enforce-node-allocatable)`),
  ];
}

function given(problems: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(problems).flatMap(([problem, is]) => (is ? [problem] : []));
}
