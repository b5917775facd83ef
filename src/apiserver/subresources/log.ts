import { type FieldProblem, forbidden, invalid as invalidField } from '#api/field-problem.ts';
import { badRequest, failure, internalError, invalid, unnamedError } from '#api/status.ts';
import { Unavailable } from '#base/errors.ts';
import { type ProxyResponse, proxyRequest } from '#wire/http/proxy.ts';
import type { Route, RouteContext } from '../request/route.ts';
import { chooseContainer } from './container-choice.ts';
import { isTrue, type KubeletAccess, kubeletOf, kubeletPath, podOf } from './kubelet-location.ts';

/** `pods/log` */
export function logRoute(access: KubeletAccess, context: RouteContext): Route {
  return {
    name: 'pods/log',
    matches: (info) => info.kind === 'resource' && info.group === '' && info.resource === 'pods' && info.subresource === 'log',
    async handle(request, signal) {
      const pod = podOf(context, request);
      const query = kubeletLogQuery(request.query);
      const container = chooseContainer(pod, request.query.get('container') ?? '');
      if ((pod.spec?.nodeName ?? '') === '') return { status: 204, headers: {}, body: new Uint8Array() };
      const { namespace = '', name } = pod.metadata;
      const url = kubeletPath(kubeletOf(context, pod), ['containerLogs', namespace, name, container], query);
      const insecure = isTrue(request.query.get('insecureSkipTLSVerifyBackend') ?? 'false');
      const tls = insecure ? { ...access.tls, caPem: undefined } : access.tls;
      const answer = await askForLog({ url, tls }, signal);
      if (answer.status !== 200) throw await refusalOf(answer);
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: answer.body };
    },
  };
}

/**
 * What the kubelet is asked for.
 *
 * @throws {StatusError} 422 as upstream's validation of PodLogOptions, 400 for what is no number or time
 */
export function kubeletLogQuery(asked: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ['follow', 'previous', 'timestamps']) if (asked.has(name) && isTrue(asked.get(name))) query.set(name, 'true');
  const problems: FieldProblem[] = [];
  for (const [name, least, rule] of limits) {
    const text = asked.get(name) ?? '';
    if (text === '') continue;
    if (!/^[+-]?\d{1,18}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
    if (Number(text) < least) problems.push(invalidField(name, Number(text), rule));
    query.set(name, String(Number(text)));
  }
  const sinceTime = asked.get('sinceTime') ?? '';
  if (sinceTime !== '') {
    if (Number.isNaN(Date.parse(sinceTime))) throw badRequest(`parsing time ${JSON.stringify(sinceTime)} as RFC 3339: invalid syntax`);
    if (query.has('sinceSeconds')) problems.push(forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
    query.set('sinceTime', sinceTime);
  }
  if (problems.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, '', problems);
  return query;
}

const limits = [
  ['sinceSeconds', 1, 'must be greater than 0'],
  ['tailLines', 0, 'must be greater than or equal to 0'],
  ['limitBytes', 1, 'must be greater than 0'],
] as const;

async function askForLog(target: Parameters<typeof proxyRequest>[1], signal: AbortSignal): Promise<ProxyResponse> {
  try {
    return await proxyRequest({ method: 'GET', headers: [] }, target, signal);
  } catch (error) {
    if (error instanceof Unavailable) throw unnamedError(`Get ${JSON.stringify(target.url.href)}: ${error.message}`);
    throw error;
  }
}

/** The kubelet's text as a `Status`. */
async function refusalOf(answer: ProxyResponse): Promise<Error> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  if (answer.status === 400) return badRequest(text);
  if (answer.status === 404) return failure(404, 'NotFound', text);
  if (answer.status === 500) return internalError(text);
  return failure(answer.status, 'Unknown', `the kubelet answered ${answer.status}: ${text}`);
}
