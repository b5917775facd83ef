import type { RequestInfo } from '../request/request-info.ts';
import type { ApiRequest, ApiResponse } from '../request/route.ts';
import { type Family, HistogramFamily, NumberFamily, renamed } from './families.ts';

const aboutRequests = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];
/** Seconds: upstream's bounds. */
const durationBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** What monitoring asks of a Kubernetes API server about its requests, under upstream's names. */
export class RequestMetrics {
  readonly #total = new NumberFamily(
    'counter',
    'apiserver_request_total',
    'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
    [...aboutRequests, 'dry_run', 'code'],
  );
  readonly #durations = new HistogramFamily(
    'apiserver_request_duration_seconds',
    'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
    [...aboutRequests, 'dry_run'],
    durationBuckets,
  );
  readonly #inFlight = new NumberFamily(
    'gauge',
    'apiserver_current_inflight_requests',
    'Number of requests that are being served at the moment, by whether they change something.',
    ['request_kind'],
  );
  readonly #longRunning = new NumberFamily(
    'gauge',
    'apiserver_longrunning_requests',
    'Number of requests at the moment that have no time limit, such as watches and logs.',
    aboutRequests,
  );

  readonly #authentications = new NumberFamily('counter', 'authentication_attempts', 'Counter of authenticated attempts.', ['result']);
  readonly #authorizations = new NumberFamily('counter', 'authorization_attempts_total', 'Counter of authorization attempts.', ['result']);

  get families(): readonly Family[] {
    const durations = this.#durations;
    // Upstream leaves out of these two what webhooks take, and there are none.
    const others = ['apiserver_request_slo_duration_seconds', 'apiserver_request_sli_duration_seconds'].map((name) => renamed(durations, name));
    return [this.#total, durations, ...others, this.#inFlight, this.#longRunning, this.#authentications, this.#authorizations];
  }

  authenticated(isKnown: boolean): void {
    this.#authentications.add([isKnown ? 'success' : 'error']);
  }

  authorized(isAllowed: boolean): void {
    this.#authorizations.add([isAllowed ? 'allowed' : 'denied']);
  }

  /** @returns what to call with the answer */
  begin(request: ApiRequest, info: RequestInfo, isLongRunning: boolean): (response: ApiResponse, seconds: number) => void {
    const labels = labelsOf(request, info);
    const requestKind = [request.method === 'GET' || request.method === 'HEAD' ? 'readOnly' : 'mutating'];
    if (isLongRunning) this.#longRunning.add(labels);
    else this.#inFlight.add(requestKind);
    return (response, seconds) => {
      const dryRun = request.query.get('dryRun') ?? '';
      this.#total.add([...labels, dryRun, String(response.status)]);
      if (isLongRunning) this.#longRunning.add(labels, -1);
      else {
        this.#inFlight.add(requestKind, -1);
        this.#durations.observe([...labels, dryRun], seconds);
      }
    };
  }
}

const verbsOf: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT' };

function labelsOf(request: ApiRequest, info: RequestInfo): readonly string[] {
  if (info.kind === 'path') return [request.method, '', '', '', '', '', 'apiserver'];
  const isApply = info.verb === 'patch' && request.headers['content-type'] === 'application/apply-patch+yaml';
  const verb = isApply ? 'APPLY' : (verbsOf[info.verb] ?? info.verb.toUpperCase());
  const scope = info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster';
  return [verb, info.group, info.version, info.resource, info.subresource, scope, 'apiserver'];
}
