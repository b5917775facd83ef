import type { Clock } from '#base/clock.ts';
import { InvalidInput, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { TaskGroup } from '#base/task-group.ts';
import type { RegisterRequest } from '#wire/generated/device-plugin.ts';
import type { PluginHandler } from '../../plugins/plugin-registry.ts';
import type { FilesPort } from '../../ports/files.ts';
import type { PluginSocketsPort } from '../../ports/plugin-sockets.ts';
import type { DeviceInventory, ResourcePlugin } from './device-inventory.ts';

export interface DevicePluginsDeps {
  readonly sockets: PluginSocketsPort;
  readonly files: Pick<FilesPort, 'ensureDirectory' | 'list' | 'removeTree'>;
  readonly inventory: DeviceInventory;
  /** Where plugins have their sockets, and the kubelet the one at which they come forward. */
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const version = 'v1beta1';

/** Follows the plugins that come forward, at the kubelet's own socket or through the registry of plugins. */
export class DevicePlugins implements PluginHandler {
  readonly #deps: DevicePluginsDeps;
  readonly #tasks: TaskGroup;

  constructor(deps: DevicePluginsDeps, tasks: TaskGroup) {
    this.#deps = deps;
    this.#tasks = tasks;
  }

  /**
   * Sockets of before are removed: that tells the plugins to come forward again. Upstream's rule.
   *
   * @returns what ends the service
   */
  async serve(signal: AbortSignal): Promise<{ close(): Promise<void> }> {
    const { files, directory, sockets } = this.#deps;
    await files.ensureDirectory(directory, 0o750, signal);
    for (const { name, kind } of await files.list(directory, signal)) {
      if (kind === 'socket') await files.removeTree(`${directory}/${name}`, signal);
    }
    return await sockets.serveDeviceRegistration(`${directory}/kubelet.sock`, (request, inner) => this.#come(request, inner));
  }

  validate(name: string, _endpoint: string, versions: readonly string[]): string | undefined {
    if (!versions.includes(version)) return `manager version, ${version}, is not among plugin supported versions [${versions.join(' ')}]`;
    return isExtendedResource(name) ? undefined : `invalid name of device plugin socket: the ResourceName "${name}" is invalid`;
  }

  async register(name: string, endpoint: string, _versions: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#connect(name, endpoint, signal);
  }

  /** Its stream has broken with its socket. */
  deregister(): void {}

  async #come({ version: spoken, endpoint, resourceName }: RegisterRequest, signal: AbortSignal): Promise<void> {
    const refuse = (message: string) => {
      this.#deps.logger.warn('a device plugin is refused', { resource: resourceName, error: message });
      throw new InvalidInput({ message });
    };
    if (spoken !== version) refuse(`requested API version "${spoken}" is not supported by kubelet. Supported version is ["${version}"]`);
    if (!isExtendedResource(resourceName)) refuse(`the ResourceName "${resourceName}" is invalid`);
    await this.#connect(resourceName, `${this.#deps.directory}/${endpoint}`, signal);
  }

  async #connect(resource: string, socketPath: string, signal: AbortSignal): Promise<void> {
    const { sockets, inventory, logger } = this.#deps;
    const connection = sockets.devicePlugin(socketPath);
    try {
      const options = await connection.options(signal);
      const plugin = { connection, options };
      inventory.connect(resource, plugin);
      logger.info('a device plugin has come forward', { resource, socket: socketPath });
      this.#tasks.run(`device plugin ${resource}`, (inner) => this.#follow(resource, plugin, inner));
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async #follow(resource: string, plugin: ResourcePlugin, signal: AbortSignal): Promise<void> {
    const { inventory, logger } = this.#deps;
    try {
      for await (const devices of plugin.connection.devices(signal)) inventory.tell(resource, plugin, devices);
    } catch (error) {
      if (!signal.aborted) logger.warn('a device plugin is gone', { resource, error: messageOf(error) });
    }
    if (!signal.aborted) inventory.lose(resource, plugin);
  }
}

const name = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** With a domain that is not Kubernetes' own. Upstream's rule. */
export function isExtendedResource(resource: string): boolean {
  if (resource.startsWith('requests.') || /(^|\.)kubernetes\.io\//.test(resource)) return false;
  return name.test(resource) && resource.length <= 253 + 1 + 63;
}
