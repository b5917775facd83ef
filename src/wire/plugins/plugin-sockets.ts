import type { Clock } from '#base/clock.ts';
import { connectDevicePlugin, serveDeviceRegistration } from './device-plugins.ts';
import { connectRegistration } from './plugin-registration.ts';

/** Sockets of plugins on this host. */
export function createPluginSockets(clock: Clock) {
  return {
    registration: (socketPath: string) => connectRegistration(socketPath, clock),
    devicePlugin: (socketPath: string) => connectDevicePlugin(socketPath, clock),
    serveDeviceRegistration,
  };
}
