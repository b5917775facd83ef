import type { RegisterRequest } from '#wire/generated/device-plugin.ts';
import type { DevicePluginConnection } from '#wire/plugins/device-plugins.ts';
import type { RegistrationConnection } from '#wire/plugins/plugin-registration.ts';

/** Unix sockets between the kubelet and plugins of others. Connections are made by their first call. */
export interface PluginSocketsPort {
  registration(socketPath: string): RegistrationConnection;
  devicePlugin(socketPath: string): DevicePluginConnection;
  /** @throws {Unavailable} */
  serveDeviceRegistration(
    socketPath: string,
    register: (request: RegisterRequest, signal: AbortSignal) => Promise<void>,
  ): Promise<{ close(): Promise<void> }>;
}
