import type { Container, HTTPGetAction, Probe } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { DeadlineExceeded, messageOf } from '#base/errors.ts';
import type { ProbersPort } from '../ports/probers.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { expand } from '../runtime/expansion.ts';
import { grpcOutcome } from './grpc-outcome.ts';
import { httpOutcome } from './http-outcome.ts';

/** An error says nothing about the container: it could not be asked. */
export type ProbeOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'success-with-warning'; readonly output: string }
  | { readonly kind: 'failure'; readonly output: string }
  | { readonly kind: 'error'; readonly text: string };

export interface ProbeDeps {
  readonly runtime: Pick<RuntimePort, 'execSync'>;
  readonly probers: ProbersPort;
  readonly clock: Clock;
  /** Such as `kube-probe/1.36`. */
  readonly userAgent: string;
}

export interface ProbeTarget {
  readonly container: Container;
  /** Without `containerd://`. */
  readonly containerId: string;
  readonly podIp: string;
}

/** Asks the container once; what could not be asked is tried again, three times in all. Throws only when the signal is aborted. */
export async function runProbe(probe: Probe, target: ProbeTarget, deps: ProbeDeps, signal: AbortSignal): Promise<ProbeOutcome> {
  let outcome: ProbeOutcome = { kind: 'error', text: 'missing probe handler' };
  for (let tries = 0; tries < maxTries; tries += 1) {
    outcome = await askOnce(probe, target, deps, signal);
    if (outcome.kind !== 'error') return outcome;
  }
  return outcome;
}

/** The number of a port that may be given by name. @returns the problem as a text */
export function portNumber(port: number | string, container: Pick<Container, 'ports'>): number | string {
  const named = typeof port === 'string' ? container.ports?.find((one) => one.name === port)?.containerPort : undefined;
  if (named === undefined && typeof port === 'string' && !/^[+-]?\d+$/.test(port))
    return `strconv.Atoi: parsing ${JSON.stringify(port)}: invalid syntax`;
  const number = named ?? Number(port);
  return number > 0 && number < 65_536 ? number : `invalid port number: ${number}`;
}

export const maxOutputBytes = 10 * 1024;

const maxTries = 3;

async function askOnce(probe: Probe, target: ProbeTarget, deps: ProbeDeps, signal: AbortSignal): Promise<ProbeOutcome> {
  const timeoutSeconds = probe.timeoutSeconds ?? 1;
  if (probe.exec !== undefined) return await askExec(probe.exec.command ?? [], timeoutSeconds, target, deps, signal);
  if (probe.httpGet !== undefined) return await askHttp(probe.httpGet, timeoutSeconds, target, deps, signal);
  if (probe.tcpSocket !== undefined) {
    const port = portNumber(probe.tcpSocket.port, target.container);
    if (typeof port === 'string') return { kind: 'error', text: port };
    return await askTcp(probe.tcpSocket.host || target.podIp, port, timeoutSeconds, deps, signal);
  }
  if (probe.grpc !== undefined) {
    const { port, service = '' } = probe.grpc;
    const check = { host: target.podIp, port, service, timeoutMs: timeoutSeconds * 1000, userAgent: deps.userAgent };
    return grpcOutcome(await deps.probers.grpcHealth(check, signal), check);
  }
  return { kind: 'error', text: 'missing probe handler' };
}

async function askExec(
  words: readonly string[],
  timeoutSeconds: number,
  target: ProbeTarget,
  deps: ProbeDeps,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const literals = new Map(target.container.env?.filter((one) => one.valueFrom === undefined).map((one) => [one.name, one.value ?? '']));
  const command = words.map((word) => expand(word, (name) => literals.get(name)));
  try {
    const { exitCode, stdout, stderr } = await deps.runtime.execSync(target.containerId, command, timeoutSeconds, signal);
    if (exitCode === 0) return { kind: 'success' };
    return { kind: 'failure', output: Buffer.concat([stdout, stderr]).subarray(0, maxOutputBytes).toString('utf8') };
  } catch (error) {
    if (signal.aborted) throw error;
    if (!(error instanceof DeadlineExceeded)) return { kind: 'error', text: messageOf(error) };
    return { kind: 'failure', output: `command timed out: ${JSON.stringify(command.join(' '))} timed out after ${timeoutSeconds}s` };
  }
}

async function askHttp(
  action: HTTPGetAction,
  timeoutSeconds: number,
  target: ProbeTarget,
  deps: ProbeDeps,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const port = portNumber(action.port, target.container);
  if (typeof port === 'string') return { kind: 'error', text: port };
  const url = httpUrl(action, port, target.podIp);
  try {
    return await withDeadline('the probe', timeoutSeconds * 1000, deps.clock, signal, (inner) =>
      httpOutcome(url, action.httpHeaders ?? [], deps.userAgent, (get) => deps.probers.httpGet(get, inner)),
    );
  } catch (error) {
    if (signal.aborted) throw error;
    const why = error instanceof DeadlineExceeded ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)' : messageOf(error);
    return { kind: 'failure', output: `Get "${url}": ${why}` };
  }
}

async function askTcp(host: string, port: number, timeoutSeconds: number, deps: ProbeDeps, signal: AbortSignal): Promise<ProbeOutcome> {
  try {
    await withDeadline('the probe', timeoutSeconds * 1000, deps.clock, signal, (inner) => deps.probers.tcpConnect(host, port, inner));
    return { kind: 'success' };
  } catch (error) {
    if (signal.aborted) throw error;
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    return { kind: 'failure', output: error instanceof DeadlineExceeded ? `dial tcp ${address}: i/o timeout` : messageOf(error) };
  }
}

function httpUrl(action: HTTPGetAction, port: number, podIp: string): string {
  const scheme = (action.scheme ?? 'HTTP').toLowerCase();
  const host = action.host || podIp;
  const path = action.path ?? '/';
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}${path.startsWith('/') ? '' : '/'}${path}`;
}
