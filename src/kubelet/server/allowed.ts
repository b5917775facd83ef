import type { HttpResponse } from '#wire/http/server.ts';
import { textAnswer } from './answer.ts';
import type { KubeletRoute } from './kubelet-route.ts';

/** What the configuration lets the server do beyond pages. */
export interface ServerSwitches {
  readonly debugging: boolean;
  readonly profiling: boolean;
  readonly debugFlags: boolean;
  readonly systemLogs: boolean;
}

type Kind = KubeletRoute['kind'];

/** @returns why a route is not served, in upstream's words; undefined when it is */
export function refusalOf(kind: Kind, method: string, switches: ServerSwitches): HttpResponse | undefined {
  if (kind === 'unknown') return notFound;
  if (!switches.debugging) {
    if (debugging.has(kind)) return textAnswer(405, 'Debug endpoints are disabled.\n');
    if (absentWithoutDebugging.has(kind)) return notFound;
  }
  if (kind === 'logs' && !switches.systemLogs) return textAnswer(405, 'logs endpoint is disabled.\n');
  if (kind === 'profiling' && !switches.profiling) return textAnswer(405, 'profiling endpoint is disabled.\n');
  if (kind === 'verbosity' && !switches.debugFlags) return textAnswer(405, 'flags endpoint is disabled.\n');
  const methods = methodsOf[kind];
  if (methods === undefined || methods.includes(method)) return undefined;
  return { ...textAnswer(405, '405: Method Not Allowed'), headers: { allow: methods.join(', ') } };
}

export const notFound = textAnswer(404, '404: Page Not Found');

const debugging: ReadonlySet<Kind> = new Set(['run', 'exec', 'attach', 'portForward', 'containerLogs', 'runningpods', 'profiling', 'logs']);
const absentWithoutDebugging: ReadonlySet<Kind> = new Set(['configz', 'checkpoint', 'statusz', 'flagz', 'verbosity']);

const methodsOf: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  pods: ['GET'],
  runningpods: ['GET'],
  configz: ['GET'],
  statusz: ['GET'],
  flagz: ['GET'],
  logs: ['GET'],
  profiling: ['GET'],
  verbosity: ['PUT'],
  summary: ['GET', 'POST'],
  checkpoint: ['POST'],
  containerLogs: ['GET'],
  run: ['POST'],
  exec: ['GET', 'POST'],
  attach: ['GET', 'POST'],
  portForward: ['GET', 'POST'],
};
