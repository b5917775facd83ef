import { parseArgs } from 'node:util';
import { systemClock } from '#base/clock.ts';
import { clusterPaths } from '#cluster/cluster-paths.ts';
import { hostNames } from '#cluster/host-names.ts';
import { Supervisor } from '#cluster/supervisor/supervisor.ts';
import { createHost } from './assembly/cluster-host.ts';
import { partLogger } from './assembly/part-logger.ts';

// Keeps the parts of one cluster running. Started by `up`, detached; whoever holds the cluster's lock owns its run folder.
const { values } = parseArgs({ options: { name: { type: 'string' }, 'run-dir': { type: 'string' }, 'data-dir': { type: 'string' } } });
const { name, 'run-dir': runDir, 'data-dir': dataDir } = values;
if (name === undefined || runDir === undefined || dataDir === undefined) {
  process.stderr.write('error: usage: supervisor --name NAME --run-dir DIR --data-dir DIR\n');
  process.exit(2);
}
const log = partLogger({ part: 'supervisor' });
const host = await createHost(systemClock, log);
const lock = await host.sockets.tryHold(hostNames(name).lockSocket);
if (lock === undefined) {
  log.error('another supervisor keeps this cluster', { cluster: name });
  process.exit(1);
}
// What asks it to end is `down`, over its socket; a signal for the whole group of the terminal is not meant for it.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
const paths = clusterPaths(runDir, dataDir);
await new Supervisor({ socketPath: paths.supervisorSocket, partsFile: `${runDir}/parts.json`, processFile: paths.processFile }, host).run(() =>
  process.stdout.write('{"ready":true}\n'),
);
await lock.close();
process.exit(0);
