import type { HttpResponse } from '#wire/http/server.ts';
import { Refusal } from './answer.ts';
import { parseNodeLogQuery, queryProblem } from './logs/node-log-query.ts';
import { type ServiceLogs, serviceLogs } from './logs/service-logs.ts';
import { type SystemLogs, systemLogAnswer } from './system-logs.ts';

export interface NodeLogs {
  readonly systemLogs: SystemLogs;
  /** Absent: nobody may ask for the logs of services. */
  readonly serviceLogs?: ServiceLogs | undefined;
}

/** `/logs/...`: files of the host and, where that is configured, logs of its services. @throws {Refusal} in upstream's words */
export async function nodeLogAnswer(
  logs: NodeLogs,
  path: string,
  query: URLSearchParams,
  endsWithSlash: boolean,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const ofFile = (name: string, isFolder: boolean) => systemLogAnswer(logs.systemLogs, name, isFolder, signal);
  if (logs.serviceLogs === undefined) return await ofFile(path, endsWithSlash);
  const parsed = parseNodeLogQuery(query);
  if (parsed.kind === 'none') return await ofFile(path, endsWithSlash);
  if (parsed.kind === 'wrong') throw new Refusal(400, `${parsed.problem}\n`);
  if (path !== '') throw new Refusal(406, 'path not allowed in query mode\n');
  const problem = queryProblem(parsed.query);
  if (problem !== undefined) throw new Refusal(406, `${problem}\n`);
  const [file] = parsed.query.files;
  if (file !== undefined) {
    const answer = await ofFile(file, false);
    if (answer.status !== 404) return answer;
    const where = `stat ${logs.systemLogs.directory}/${file.replace(/^\/+/, '')}: no such file or directory`;
    throw new Refusal(406, `query: Invalid value: [${JSON.stringify(file)}]: ${where}\n`);
  }
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: serviceLogs(logs.serviceLogs, parsed.query, signal) };
}
