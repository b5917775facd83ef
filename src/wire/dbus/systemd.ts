import { existsSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import { messageOf, Unavailable } from '#base/errors.ts';
import { DBusConnection, DBusFailed } from './connection.ts';
import type { TypedValue } from './marshal.ts';

const manager = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
} as const;
/** systemd's own, for root: it works before there is a bus, and without one. */
const ownSocket = '/run/systemd/private';
const noSuchUnit: ReadonlySet<string> = new Set(['org.freedesktop.systemd1.NoSuchUnit', 'org.freedesktop.systemd1.UnitNotLoaded']);
const unitExists = 'org.freedesktop.systemd1.UnitExists';

/** The manager of this host's units; the connection is made by the first call, and again after it broke. */
export function createSystemd({ clock, socket = ownSocket }: { readonly clock: Clock; readonly socket?: string }) {
  let connection: Promise<DBusConnection> | undefined;

  async function call(member: string, args: readonly (string | TypedValue)[], signal: AbortSignal): Promise<void> {
    connection ??= open();
    await (await connection).call({ ...manager, member, args }, signal);
  }

  async function open(): Promise<DBusConnection> {
    const forget = () => {
      connection = undefined;
    };
    try {
      const opened = await DBusConnection.open({ address: `unix:path=${socket}`, clock, isPeer: true }, new AbortController().signal);
      opened.onClosed(forget);
      return opened;
    } catch (cause) {
      forget();
      throw new Unavailable({ message: `systemd does not answer: ${messageOf(cause)}`, cause, hint: 'cgroupDriver: cgroupfs does without it' });
    }
  }

  async function start(name: string, properties: Readonly<Record<string, bigint>>, signal: AbortSignal): Promise<void> {
    const parent = name.replace(/(-[^-]*)?\.slice$/, '.slice');
    const wants = parent === name ? [] : [property('Wants', 'as', [parent])];
    const accounting = ['CPUAccounting', 'MemoryAccounting', 'TasksAccounting'].map((one) => property(one, 'b', true));
    const all = [property('Description', 's', 'pods of kubernode'), ...wants, property('DefaultDependencies', 'b', false), ...accounting];
    const args = [name, 'replace', { type: 'a(sv)', value: [...all, ...amounts(properties)] }, { type: 'a(sa(sv))', value: [] }];
    await call('StartTransientUnit', args, signal);
  }

  async function change(name: string, properties: Readonly<Record<string, bigint>>, signal: AbortSignal): Promise<void> {
    if (Object.keys(properties).length === 0) return;
    const args = [name, { type: 'b', value: true }, { type: 'a(sv)', value: amounts(properties) }]; // until the host goes down
    await call('SetUnitProperties', args, signal);
  }

  return {
    isThere: async () => existsSync(socket),
    async ensure(name: string, properties: Readonly<Record<string, bigint>>, signal: AbortSignal): Promise<void> {
      try {
        await start(name, properties, signal);
      } catch (error) {
        if (!(error instanceof DBusFailed) || error.errorName !== unitExists) throw error;
        await change(name, properties, signal);
      }
    },
    async stop(name: string, signal: AbortSignal): Promise<void> {
      try {
        await call('StopUnit', [name, 'replace'], signal);
      } catch (error) {
        if (!(error instanceof DBusFailed) || !noSuchUnit.has(error.errorName)) throw error;
      }
    },
    close: async () => (await connection?.catch(() => undefined))?.close(),
  };
}

function amounts(properties: Readonly<Record<string, bigint>>) {
  return Object.entries(properties).map(([name, value]) => property(name, 't', value));
}

function property(name: string, type: string, value: TypedValue['value']) {
  return [name, { type, value }] as const;
}
