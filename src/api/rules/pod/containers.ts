import { duplicate, type FieldProblem, forbidden, invalid, notFound, notSupported, required, tooMany } from '#api/field-problem.ts';
import type { Container, ContainerResizePolicy, EphemeralContainer, PodSpec, Volume } from '#api/types/core-v1.ts';
import { findDuplicates, validateChoice } from '../checks.ts';
import { labelProblems } from '../names.ts';
import { validateEnvFrom, validateEnvironment } from './environment.ts';
import { validateHostPorts, validatePorts } from './ports.ts';
import { validateProbes } from './probes.ts';
import { validateResources } from './resources.ts';
import { validateSecurityContext } from './security.ts';
import { validateVolumeDevices, validateVolumeMounts } from './volume-mounts.ts';

type AnyContainer = Container | EphemeralContainer;

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['FallbackToLogsOnError', 'File'];
const restartActions: readonly string[] = ['Restart', 'RestartAllContainers'];
const restartPolicies = ['Always', 'Never', 'OnFailure'];

/** All containers of a pod; a name stands for one of them only. */
export function validateContainers(spec: PodSpec, field: string): readonly FieldProblem[] {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  const groups: readonly (readonly [string, readonly AnyContainer[]])[] = [
    ['containers', containers],
    ['initContainers', initContainers],
    ['ephemeralContainers', ephemeralContainers],
  ];
  const named = groups.flatMap(([key, list]) => list.map((container, index) => ({ at: `${field}.${key}[${index}]`, container })));
  const repeated = findDuplicates(
    named.filter(({ container }) => (container.name ?? '') !== ''),
    ({ container }) => container.name,
    ({ at, container }) => duplicate(`${at}.name`, container.name),
  );
  const others = new Set([...containers, ...initContainers].map(({ name }) => name));
  return [
    ...(containers.length === 0 ? [required(`${field}.containers`)] : []),
    ...named.flatMap(({ at, container }) => validateContainer(container, spec, at)),
    ...repeated,
    ...initContainers.flatMap((container, index) => validateInit(container, `${field}.initContainers[${index}]`)),
    ...ephemeralContainers.flatMap((container, index) => validateEphemeral(container, others, `${field}.ephemeralContainers[${index}]`)),
    ...validateHostPorts(containers, `${field}.containers`),
  ];
}

function validateContainer(container: AnyContainer, spec: PodSpec, field: string): readonly FieldProblem[] {
  const { name = '', image = '', ports = [], env = [], envFrom = [], volumeMounts = [], volumeDevices = [], resources, securityContext } = container;
  const volumes = new Map((spec.volumes ?? []).map((volume: Volume) => [volume.name, volume]));
  const mounts = { volumes, isPrivileged: securityContext?.privileged === true, devices: volumeDevices };
  return [
    ...(name === '' ? [required(`${field}.name`)] : labelProblems(name).map((text) => invalid(`${field}.name`, name, text))),
    ...validateImage(image, `${field}.image`),
    ...validatePorts(ports, spec.hostNetwork === true, `${field}.ports`),
    ...validateEnvironment(env, `${field}.env`),
    ...validateEnvFrom(envFrom, `${field}.envFrom`),
    ...validateVolumeMounts(volumeMounts, mounts, `${field}.volumeMounts`),
    ...validateVolumeDevices(volumeDevices, mounts, `${field}.volumeDevices`),
    ...validateChoice(container.imagePullPolicy, pullPolicies, `${field}.imagePullPolicy`),
    ...validateChoice(container.terminationMessagePolicy, messagePolicies, `${field}.terminationMessagePolicy`),
    ...(resources === undefined ? [] : validateResources(resources, `${field}.resources`)),
    ...(securityContext === undefined ? [] : validateSecurityContext(securityContext, `${field}.securityContext`)),
    ...validateProbes(container, field, spec.terminationGracePeriodSeconds ?? 30),
    ...validateResize(container.resizePolicy ?? [], spec, `${field}.resizePolicy`),
    ...validateRestart(container, field),
  ];
}

function validateImage(image: string, field: string): readonly FieldProblem[] {
  if (image === '') return [required(field)];
  return image === image.trim() ? [] : [invalid(field, image, 'must not have leading or trailing whitespace')];
}

function validateResize(policies: readonly ContainerResizePolicy[], spec: PodSpec, field: string): readonly FieldProblem[] {
  const problems = policies.flatMap(({ resourceName = '', restartPolicy = '' }): readonly FieldProblem[] => {
    const own: FieldProblem[] = [];
    if (resourceName !== 'cpu' && resourceName !== 'memory') own.push(notSupported(field, resourceName, ['cpu', 'memory']));
    if (restartPolicy !== 'NotRequired' && restartPolicy !== 'RestartContainer') {
      own.push(restartPolicy === '' ? required(field) : notSupported(field, restartPolicy, ['NotRequired', 'RestartContainer']));
    }
    if (spec.restartPolicy === 'Never' && restartPolicy === 'RestartContainer') {
      own.push(invalid(field, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
    return own;
  });
  const repeated = findDuplicates(
    policies,
    ({ resourceName }) => resourceName,
    ({ resourceName }) => duplicate(field, resourceName),
  );
  return [...problems, ...repeated];
}

function validateRestart(container: AnyContainer, field: string): readonly FieldProblem[] {
  const { restartPolicy = '', restartPolicyRules = [] } = container;
  const problems: FieldProblem[] = [];
  if (restartPolicy !== '' && !restartPolicies.includes(restartPolicy))
    problems.push(notSupported(`${field}.restartPolicy`, restartPolicy, restartPolicies));
  if (restartPolicyRules.length === 0) return problems;
  const at = `${field}.restartPolicyRules`;
  if (restartPolicy === '') problems.push(required(`${field}.restartPolicy`, 'must specify restartPolicy when restart rules are used'));
  if (restartPolicyRules.length > 20) problems.push(tooMany(at, restartPolicyRules.length, 20));
  for (const [index, { action, exitCodes }] of restartPolicyRules.entries()) {
    if (!restartActions.includes(action)) problems.push(notSupported(`${at}[${index}].action`, action, restartActions));
    if (exitCodes === undefined) problems.push(required(`${at}[${index}].exitCodes`, 'must be specified'));
    else if (exitCodes.operator !== 'In' && exitCodes.operator !== 'NotIn') {
      problems.push(notSupported(`${at}[${index}].exitCodes.operator`, exitCodes.operator, ['In', 'NotIn']));
    }
    const count = exitCodes?.values?.length ?? 0;
    if (count > 255) problems.push(tooMany(`${at}[${index}].exitCodes.values`, count, 255));
  }
  return problems;
}

function validateInit(container: Container, field: string): readonly FieldProblem[] {
  if (container.restartPolicy === 'Always') return [];
  const parts = (['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const)
    .filter((key) => container[key] !== undefined)
    .map((key) => forbidden(`${field}.${key}`, 'may not be set for init containers without restartPolicy=Always'));
  const policies = (container.resizePolicy ?? []).flatMap(({ restartPolicy }, index) =>
    restartPolicy === 'RestartContainer'
      ? [
          invalid(
            `${field}.resizePolicy[${index}].restartPolicy`,
            restartPolicy,
            "must not be set to 'RestartContainer' for non-sidecar initContainers",
          ),
        ]
      : [],
  );
  return [...parts, ...policies];
}

/** @param names of the pod's other containers */
function validateEphemeral(container: EphemeralContainer, names: ReadonlySet<string>, field: string): readonly FieldProblem[] {
  const { ports = [], resources = {}, resizePolicy = [] } = container;
  const banned = (['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const).filter((key) => container[key] !== undefined);
  const used: readonly string[] = [
    ...banned,
    ...(ports.length > 0 ? ['ports'] : []),
    ...(Object.keys(resources).length > 0 ? ['resources'] : []),
    ...(resizePolicy.length > 0 ? ['resizePolicy'] : []),
    ...((container.restartPolicy ?? '') !== '' ? ['restartPolicy'] : []),
    ...((container.restartPolicyRules ?? []).length > 0 ? ['restartPolicyRules'] : []),
  ];
  const subPaths = (container.volumeMounts ?? []).flatMap((mount, index) =>
    (['subPath', 'subPathExpr'] as const).filter((key) => (mount[key] ?? '') !== '').map((key) => `volumeMounts[${index}].${key}`),
  );
  const { targetContainerName: target = '' } = container;
  const isMissing = target !== '' && !names.has(target);
  return [
    ...(isMissing ? [notFound(`${field}.targetContainerName`, target)] : []),
    ...[...used, ...subPaths].map((key) => forbidden(`${field}.${key}`, 'cannot be set for an Ephemeral Container')),
  ];
}
