export interface HostLink {
  readonly name: string;
  /** The bridge that it is a port of. */
  readonly master: string | undefined;
}

export interface HostRoute {
  /** `10.64.0.0/24`; the default route is not listed. */
  readonly range: string;
  readonly link: string;
}

export interface BridgeSettings {
  readonly name: string;
  /** With prefix length: `10.64.0.1/24`. */
  readonly address: string;
  /** Its own, so that it does not change as ports come and go. */
  readonly macAddress: string;
  readonly mtu: number;
}

/** The host's network. */
export interface HostNetwork {
  links(): Promise<readonly HostLink[]>;
  routes(): Promise<readonly HostRoute[]>;
  /** The address, and the MTU of the link, that packets to other networks leave with; loopback where there is no such route. */
  outwardAddress(): Promise<{ readonly address: string; readonly mtu: number }>;
  ensureBridge(settings: BridgeSettings, signal: AbortSignal): Promise<void>;
  /** A link that is not there is no error. */
  deleteLink(name: string, signal: AbortSignal): Promise<void>;
  enableForwarding(): Promise<void>;
  /** All rules of IPv4, as `iptables-save` prints them; empty where there is no iptables. */
  rules(signal: AbortSignal): Promise<string>;
  /** Applies text in the form of `iptables-restore --noflush`. */
  changeRules(text: string, signal: AbortSignal): Promise<void>;
  /** The wished port if it is free on that address, else any free one. 0 wishes for any. */
  freePort(address: string, wish: number): Promise<number>;
  isPortFree(address: string, port: number): Promise<boolean>;
}
