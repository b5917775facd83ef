import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { FilesPort } from '../../ports/files.ts';
import type { PluginProgramsPort } from '../../ports/plugin-programs.ts';
import { hasOptions, journalArguments, type NodeLogQuery } from './node-log-query.ts';

export interface ServiceLogs {
  /** `/var/log` */
  readonly directory: string;
  readonly files: Pick<FilesPort, 'readBelow'>;
  readonly programs: PluginProgramsPort;
  readonly clock: Clock;
}

/** Upstream's. */
const deadlineMs = 30_000;
const mostBytes = 64 * 1024 * 1024;

/** Logs of services: from the journal of those that it knows, from their files of the others. What goes wrong is told in the text. */
export async function* serviceLogs(logs: ServiceLogs, query: NodeLogQuery, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const journal = (args: readonly string[]) =>
    withDeadline('journalctl', deadlineMs, logs.clock, signal, (inner) =>
      logs.programs.run({ program: 'journalctl', args, env: {}, stdin: '', mostBytes }, inner),
    );
  const units = await journal(['--field', '_SYSTEMD_UNIT']).catch(() => ''); // without a journal there are only files
  const known = new Set(units.split('\n').map((unit) => unit.trim()));
  const inJournal = query.services.filter((service) => known.has(`${service}.service`));
  const inFiles = query.services.filter((service) => !inJournal.includes(service));
  if (inJournal.length > 0) {
    try {
      yield Buffer.from(await journal(journalArguments(query, inJournal)));
    } catch (error) {
      yield Buffer.from(`\nfailed to get logs of ${inJournal.join(', ')}: ${messageOf(error)}\n`);
    }
  }
  if (inFiles.length === 0) return;
  if (hasOptions(query)) {
    yield Buffer.from(`\noptions present and query resolved to log files for [${inFiles.join(' ')}]\ntry without specifying options\n`);
    return;
  }
  for (const service of inFiles) yield await fileOf(logs, service, signal);
}

async function fileOf({ directory, files }: ServiceLogs, service: string, signal: AbortSignal): Promise<Uint8Array> {
  for (const name of [service, `${service}.log`, `${service}/${service}.log`]) {
    const content = await files.readBelow(directory, name, signal).catch(() => undefined); // what leads out of the folder is not there
    if (content !== undefined) return content;
  }
  return Buffer.from(`\nno logs found for ${JSON.stringify(service)}\n`);
}
