import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import type { Container, HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from '#api/types/core-v1.ts';
import { portNameProblems, portNumberProblems } from '../names.ts';

type Probes = Pick<Container, 'livenessProbe' | 'readinessProbe' | 'startupProbe' | 'lifecycle'>;

export function validateProbes(container: Probes, field: string, graceSeconds: number): readonly FieldProblem[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const problems: FieldProblem[] = [];
  if (lifecycle !== undefined) problems.push(...validateLifecycle(lifecycle, `${field}.lifecycle`, graceSeconds));
  if (livenessProbe !== undefined)
    problems.push(...validateProbe(livenessProbe, `${field}.livenessProbe`), ...mustSucceedOnce(livenessProbe, `${field}.livenessProbe`));
  if (readinessProbe !== undefined) {
    problems.push(...validateProbe(readinessProbe, `${field}.readinessProbe`));
    if (readinessProbe.terminationGracePeriodSeconds !== undefined) {
      const at = `${field}.readinessProbe.terminationGracePeriodSeconds`;
      problems.push(invalid(at, readinessProbe.terminationGracePeriodSeconds, 'must not be set for readinessProbes'));
    }
  }
  if (startupProbe !== undefined)
    problems.push(...validateProbe(startupProbe, `${field}.startupProbe`), ...mustSucceedOnce(startupProbe, `${field}.startupProbe`));
  return problems;
}

function validateProbe(probe: Probe, field: string): readonly FieldProblem[] {
  const { exec, httpGet, tcpSocket, grpc } = probe;
  const problems = validateHandler({ exec, httpGet, tcpSocket }, grpc, field).slice();
  for (const key of ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const) {
    const value = probe[key] ?? 0;
    if (value < 0) problems.push(invalid(`${field}.${key}`, value, 'must be greater than or equal to 0'));
  }
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) problems.push(invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'));
  return problems;
}

function mustSucceedOnce({ successThreshold = 1 }: Probe, field: string): readonly FieldProblem[] {
  return successThreshold === 1 ? [] : [invalid(`${field}.successThreshold`, successThreshold, 'must be 1')];
}

function validateLifecycle({ postStart, preStop, stopSignal }: Lifecycle, field: string, graceSeconds: number): readonly FieldProblem[] {
  const hooks = [
    [postStart, `${field}.postStart`],
    [preStop, `${field}.preStop`],
  ] as const;
  const problems = hooks.flatMap(([handler, at]) =>
    handler === undefined ? [] : [...validateHandler(handler, undefined, at), ...validateSleep(handler, at, graceSeconds)],
  );
  if (stopSignal === '') return [...problems, required(`${field}.stopSignal`)];
  return problems;
}

function validateSleep({ sleep }: LifecycleHandler, field: string, graceSeconds: number): readonly FieldProblem[] {
  if (sleep === undefined || (sleep.seconds >= 0 && sleep.seconds <= graceSeconds)) return [];
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
  return [invalid(`${field}.sleep`, sleep.seconds, detail)];
}

function validateHandler(handler: LifecycleHandler, grpc: Probe['grpc'], field: string): readonly FieldProblem[] {
  const { exec, httpGet, tcpSocket, sleep } = handler;
  const given = Object.entries({ exec, httpGet, tcpSocket, grpc, sleep }).filter(([, value]) => value !== undefined);
  if (given.length === 0) return [required(field, 'must specify a handler type')];
  const problems: FieldProblem[] = given.slice(1).map(([name]) => forbidden(`${field}.${name}`, 'may not specify more than 1 handler type'));
  if (exec !== undefined && (exec.command ?? []).length === 0) problems.push(required(`${field}.exec.command`));
  if (httpGet !== undefined) problems.push(...validateHttpGet(httpGet, `${field}.httpGet`));
  if (tcpSocket !== undefined) problems.push(...validatePort(tcpSocket.port, `${field}.tcpSocket.port`));
  if (grpc !== undefined) problems.push(...validatePort(grpc.port, `${field}.grpc.port`));
  return problems;
}

function validateHttpGet({ path = '', port, scheme = '', httpHeaders = [] }: HTTPGetAction, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (path === '') problems.push(required(`${field}.path`));
  problems.push(...validatePort(port, `${field}.port`));
  if (scheme !== 'HTTP' && scheme !== 'HTTPS') problems.push(notSupported(`${field}.scheme`, scheme, ['HTTP', 'HTTPS']));
  for (const { name = '' } of httpHeaders) {
    if (/^[-A-Za-z0-9]+$/.test(name)) continue;
    const detail =
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
    problems.push(invalid(`${field}.httpHeaders`, name, detail));
  }
  return problems;
}

function validatePort(port: number | string | undefined, field: string): readonly FieldProblem[] {
  const value = port ?? 0;
  const problems = typeof value === 'number' ? portNumberProblems(value) : portNameProblems(value);
  return problems.map((problem) => invalid(field, value, problem));
}
