import type { ContainerStatus } from '#wire/generated/cri.ts';
import type { FilesPort } from '../ports/files.ts';
import { annotation } from './labels.ts';

const maxMessageBytes = 4096;
const maxLogBytes = 2048;
const maxLogLines = 80;
/** Holds those lines, or that much of their content: the runtime cuts lines at 16 KiB. */
const logEndBytes = 64 << 10;

/** The end of what an ended container left in its termination log, or, if it asked for that and failed without a word, of its log. */
export async function lastWords(status: ContainerStatus, files: FilesPort, signal: AbortSignal): Promise<string> {
  const path = status.annotations[annotation.terminationMessagePath] ?? '';
  const hostPath = path === '' ? undefined : status.mounts.find((mount) => mount.containerPath === path)?.hostPath;
  const written = hostPath === undefined ? undefined : await files.readEnd(hostPath, maxMessageBytes, signal);
  const message = text(written);
  const asksLog = status.annotations[annotation.terminationMessagePolicy] === 'FallbackToLogsOnError';
  if (message !== '' || !asksLog || status.exitCode === 0 || status.reason === 'ContainerCannotRun' || status.logPath === '') return message;
  const end = await files.readEnd(status.logPath, logEndBytes, signal);
  const lines = text(end)
    .split('\n')
    .slice(end?.length === logEndBytes ? 1 : 0) // the first is a piece of one
    .filter((line) => line !== '')
    .slice(-maxLogLines)
    .map(contentOf);
  return text(new TextEncoder().encode(lines.join('')).subarray(-maxLogBytes));
}

/** The runtime writes a line as time, stream, tag, content: the tag tells whether the container ended the line, too. */
function contentOf(line: string): string {
  const [, tag, content] = /^\S+ (?:stdout|stderr) (\S+) (.*)$/s.exec(line) ?? [];
  return content === undefined ? `${line}\n` : `${content}${tag === 'P' ? '' : '\n'}`;
}

function text(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : new TextDecoder().decode(bytes);
}
