import type { HttpResponse } from '#wire/http/server.ts';
import type { OwnProcessPort } from '../ports/own-process.ts';
import { Refusal, textAnswer } from './answer.ts';

const notFound = textAnswer(404, '404: Page Not Found');
/** Upstream's, when nobody says how long. */
const usualSeconds = 30;
const mostSeconds = 300;

const index = `<!doctype html>
<title>/debug/pprof/</title>
<pre>
<a href="cmdline">cmdline</a>  the command line of this process
<a href="profile?seconds=30">profile</a>  where its time goes, as a .cpuprofile: open it in the developer tools of a browser
</pre>
`;

/**
 * `/debug/pprof/...`: what there is of it for a process of Node.js. Profiles of Go's own things (goroutines, blocks, mutexes) are not there.
 *
 * @param name below the path, '' for the list
 */
export async function profilingAnswer(
  process: OwnProcessPort | undefined,
  name: string,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<HttpResponse> {
  if (process === undefined) return notFound;
  switch (name) {
    case '':
      return { ...textAnswer(200, index), headers: { 'content-type': 'text/html; charset=utf-8' } };
    case 'cmdline':
      return textAnswer(200, process.commandLine.join('\0'));
    case 'profile': {
      const seconds = Number(query.get('seconds') ?? usualSeconds);
      if (!(seconds > 0 && seconds <= mostSeconds)) throw new Refusal(400, `seconds must be more than 0 and at most ${mostSeconds}\n`);
      const body = Buffer.from(await process.cpuProfile(seconds * 1000, signal));
      const headers = { 'content-type': 'application/json', 'content-disposition': 'attachment; filename="kubelet.cpuprofile"' };
      return { status: 200, headers, body };
    }
    default:
      return notFound;
  }
}

/** `PUT /debug/flags/v`: the body is the verbosity of the log from now on. */
export function verbosityAnswer(process: OwnProcessPort | undefined, body: Uint8Array): HttpResponse {
  if (process === undefined) return notFound;
  const text = Buffer.from(body).toString().trim();
  if (!/^[+-]?\d+$/.test(text)) {
    const problem = `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`;
    throw new Refusal(400, `failed set klog.logging.verbosity ${text}: ${problem}`);
  }
  process.setVerbosity(Number(text));
  return textAnswer(200, `successfully set klog.logging.verbosity to ${text}`);
}
