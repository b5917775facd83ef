import { posix } from 'node:path';
import type { HttpResponse } from '#wire/http/server.ts';
import type { FilesPort } from '../ports/files.ts';
import type { LogFile, LogFilesPort } from '../ports/log-files.ts';
import { textAnswer } from './answer.ts';

export interface SystemLogs {
  /** `/var/log` */
  readonly directory: string;
  readonly files: Pick<FilesPort, 'list' | 'stat'>;
  readonly logFiles: Pick<LogFilesPort, 'open'>;
}

const missing = textAnswer(404, '404 page not found\n');
const chunkBytes = 64 * 1024;

/** `/logs/...`: the host's log files as they are, folders as a page of links. @param path as asked, decoded */
export async function systemLogAnswer(logs: SystemLogs, path: string, endsWithSlash: boolean, signal: AbortSignal): Promise<HttpResponse> {
  const relative = posix.normalize(`/${path}`); // never above the folder
  const full = `${logs.directory}${relative === '/' ? '' : relative}`;
  const isDirectory = (await logs.files.stat(full, signal))?.kind === 'directory';
  if (isDirectory && !endsWithSlash) return { status: 301, headers: { location: `${posix.basename(relative)}/` }, body: Buffer.alloc(0) };
  if (isDirectory) return await listing(logs, full, signal);
  if (endsWithSlash) return missing;
  const file = await openFile(logs, full, signal);
  if (file === undefined) return missing;
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: content(file, signal) };
}

async function listing(logs: SystemLogs, directory: string, signal: AbortSignal): Promise<HttpResponse> {
  const entries = await logs.files.list(directory, signal);
  const names = entries.map(({ name, kind }) => (kind === 'directory' ? `${name}/` : name)).sort();
  const links = names.map((name) => `<a href="${encodeURI(name)}">${escaped(name)}</a>\n`);
  const body = Buffer.from(`<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${links.join('')}</pre>\n`);
  return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

/** What cannot be read as a file, such as a link to a folder, is not there. */
async function openFile({ logFiles }: SystemLogs, path: string, signal: AbortSignal): Promise<LogFile | undefined> {
  return await logFiles.open(path, signal).catch(() => undefined);
}

/** Up to the size that the file had when it was asked for: a file may grow faster than it is read. */
async function* content(file: LogFile, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  try {
    const size = await file.sizeBytes();
    for (let offset = 0; offset < size && !signal.aborted; ) {
      const chunk = await file.read(offset, Math.min(chunkBytes, size - offset));
      if (chunk.length === 0) return;
      offset += chunk.length;
      yield chunk;
    }
  } finally {
    await file.close();
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}
