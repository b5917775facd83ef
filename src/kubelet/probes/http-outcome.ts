import type { HTTPHeader } from '#api/types/core-v1.ts';
import type { HttpGet, HttpGot } from '#wire/http/client.ts';
import type { ProbeOutcome } from './run-probe.ts';

/** Asks a URL and what it redirects to, as far as that is the same host. Throws what `get` throws. */
export async function httpOutcome(
  url: string,
  asked: readonly HTTPHeader[],
  userAgent: string,
  get: (get: HttpGet) => Promise<HttpGot>,
): Promise<ProbeOutcome> {
  const headers = probeHeaders(asked, userAgent);
  let at = new URL(url);
  for (let redirects = 0; redirects < maxRedirects; redirects += 1) {
    const answer = await get(requestOf(at, headers));
    const to = redirectOf(at, answer);
    if (to !== undefined && to.hostname !== at.hostname) {
      // Somebody answered, and whoever is behind the redirect is not the container.
      return { kind: 'success-with-warning', output: `Probe terminated redirects, Response body: ${Buffer.from(answer.body).toString('utf8')}` };
    }
    if (to === undefined) return answer.status >= 200 && answer.status < 400 ? { kind: 'success' } : failed(answer.status);
    at = to;
  }
  return { kind: 'failure', output: `Get "${at.href}": stopped after ${maxRedirects} redirects` };
}

const maxRedirects = 10;
const maxBodyBytes = 10 * 1024;

function failed(status: number): ProbeOutcome {
  return { kind: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
}

function redirectOf(from: URL, answer: HttpGot): URL | undefined {
  const location = answer.headers['location'];
  if (![301, 302, 303, 307, 308].includes(answer.status) || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

function requestOf(url: URL, headers: HttpGet['headers']): HttpGet {
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
  return { scheme, host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, path: `${url.pathname}${url.search}`, headers, maxBodyBytes };
}

function probeHeaders(asked: readonly HTTPHeader[], userAgent: string): HttpGet['headers'] {
  const has = (name: string): boolean => asked.some((header) => header.name.toLowerCase() === name);
  const sent = asked.filter((header) => header.value !== '' || header.name.toLowerCase() !== 'accept');
  return [
    ...(has('user-agent') ? [] : [{ name: 'User-Agent', value: userAgent }]),
    ...(has('accept') ? [] : [{ name: 'Accept', value: '*/*' }]),
    ...sent.map(({ name, value }) => ({ name, value })),
  ];
}
