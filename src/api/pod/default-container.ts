import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import type { Container, ContainerPort, EnvVar, EphemeralContainer, HTTPGetAction, LifecycleHandler, Probe } from '#api/types/core-v1.ts';
import { defaultPullPolicy } from './image-reference.ts';

/** What an app, init or ephemeral container has when it does not say. */
export function defaultContainer<C extends Container | EphemeralContainer>(container: C, isHostNetwork: boolean): C {
  let result: Container | EphemeralContainer = fill<Container | EphemeralContainer>(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: defaultPullPolicy(container.image ?? ''),
  });
  result = changePart(result, 'ports', (ports) => changeItems(ports, (port) => defaultPort(port, isHostNetwork)));
  result = changePart(result, 'env', (env) => changeItems(env, defaultVariable));
  for (const key of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) result = changePart(result, key, defaultProbe);
  result = changePart(result, 'lifecycle', (lifecycle) => changePart(changePart(lifecycle, 'postStart', defaultHandler), 'preStop', defaultHandler));
  return result as C; // the changes above keep every field that a C has
}

function defaultPort(port: ContainerPort, isHostNetwork: boolean): ContainerPort {
  const withProtocol = fill<ContainerPort>(port, { protocol: 'TCP' });
  return isHostNetwork && (port.hostPort ?? 0) === 0 ? { ...withProtocol, hostPort: port.containerPort } : withProtocol;
}

function defaultVariable(variable: EnvVar): EnvVar {
  return changePart(variable, 'valueFrom', (source) => changePart(source, 'fieldRef', (ref) => fill(ref, { apiVersion: 'v1' })));
}

function defaultProbe(probe: Probe): Probe {
  const numbers = {
    // Zero is what Go has for absent: it stands for the default too.
    timeoutSeconds: probe.timeoutSeconds || 1,
    periodSeconds: probe.periodSeconds || 10,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
  };
  const isSame = Object.entries(numbers).every(([key, value]) => Object.entries(probe).some(([name, given]) => name === key && given === value));
  const counted = isSame ? probe : { ...probe, ...numbers };
  return changePart(changePart(counted, 'httpGet', defaultHttpGet), 'grpc', (grpc) => fill(grpc, { service: '' }));
}

function defaultHandler(handler: LifecycleHandler): LifecycleHandler {
  return changePart(handler, 'httpGet', defaultHttpGet);
}

function defaultHttpGet(action: HTTPGetAction): HTTPGetAction {
  return fill<HTTPGetAction>(action, { path: '/', scheme: 'HTTP' });
}
