import { Channel } from '#base/channel.ts';
import type { Clock } from '#base/clock.ts';
import { Unavailable } from '#base/errors.ts';
import { UndoStack } from '#base/undo-stack.ts';
import { DBusConnection } from './connection.ts';
import type { DBusValue } from './marshal.ts';

/** Of the standard, where DBUS_SYSTEM_BUS_ADDRESS does not say otherwise. */
const systemBusAddress = 'unix:path=/run/dbus/system_bus_socket';

const manager = { destination: 'org.freedesktop.login1', path: '/org/freedesktop/login1', interface: 'org.freedesktop.login1.Manager' } as const;
const systemd = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
} as const;
const bus = { destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus' } as const;
const hangUp = 1;
/** Upstream's words: what is held up, by whom, why, and that it is only for a while. */
const lock = ['shutdown', 'kubelet', 'Kubelet needs time to handle node shutdown', 'delay'] as const;
const confirmEveryMs = 20;
const confirmTries = 150;

/**
 * The host's login manager, over the system bus.
 *
 * @param options.address of the bus, as DBUS_SYSTEM_BUS_ADDRESS has it; absent: where the standard has it
 */
export function createLogind({ address = systemBusAddress, clock }: { readonly address?: string | undefined; readonly clock: Clock }) {
  return { connect: (signal: AbortSignal) => openSession(address, clock, signal) };
}

async function openSession(address: string, clock: Clock, signal: AbortSignal) {
  await using undo = new UndoStack();
  const connection = await DBusConnection.open({ address, clock }, signal);
  undo.push('bus', async () => connection.close());
  const announced = new Channel<boolean>();
  connection.onSignal(({ interface: of, member, body }) => {
    if (of === manager.interface && member === 'PrepareForShutdown') announced.push(body[0] === true);
  });
  connection.onClosed(() => announced.close());
  const rule = `type='signal',sender='${manager.destination}',path='${manager.path}',interface='${manager.interface}',member='PrepareForShutdown'`;
  await connection.call({ ...bus, member: 'AddMatch', args: [rule] }, signal);
  undo.commit();
  return {
    async inhibitDelayMs(inner: AbortSignal): Promise<number> {
      const properties = { ...manager, interface: 'org.freedesktop.DBus.Properties' };
      const [micros] = await connection.call({ ...properties, member: 'Get', args: [manager.interface, 'InhibitDelayMaxUSec'] }, inner);
      return Number(micros) / 1000;
    },
    async reload(inner: AbortSignal): Promise<void> {
      await connection.call({ ...systemd, member: 'KillUnit', args: ['systemd-logind.service', 'all', hangUp] }, inner);
    },
    inhibit: (inner: AbortSignal) => takeLock(connection, address, clock, inner),
    announcements: (inner: AbortSignal) => announced.take(inner),
    close: () => connection.close(),
  };
}

/** The lock is an open file that comes with the answer; a connection of its own keeps it. */
async function takeLock(connection: DBusConnection, address: string, clock: Clock, signal: AbortSignal): Promise<() => void> {
  await using undo = new UndoStack();
  const holder = await DBusConnection.open({ address, clock, takesFiles: true }, signal);
  undo.push('lock', async () => holder.close());
  holder.goDeaf();
  holder.send({ ...manager, member: 'Inhibit', args: lock });
  // The answer is not to be read, so the list of all locks says whether ours is there. Nothing tells when it changes.
  for (let tries = 1; !hasOurs(await connection.call({ ...manager, member: 'ListInhibitors' }, signal)); tries += 1) {
    if (tries === confirmTries) throw new Unavailable({ message: 'logind does not hold up shutdowns for us' });
    await clock.sleep(confirmEveryMs, signal);
  }
  undo.commit();
  return () => holder.close();
}

/** Entries are what, who, why, mode, uid, pid. */
function hasOurs([locks]: readonly DBusValue[]): boolean {
  const isOurs = (entry: DBusValue) => Array.isArray(entry) && lock.every((word, at) => entry[at] === word) && entry[5] === process.pid;
  return Array.isArray(locks) && locks.some(isOurs);
}
