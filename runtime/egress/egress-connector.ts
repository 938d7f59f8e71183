import { isIPv6 } from 'node:net'
import { buildConnector } from 'undici'
import { portOf } from '../destination-allow.ts'
import { hostOf } from '../outbound-address.ts'
import type { EgressConfig } from './egress-fields.ts'
import { createTunnels, ProxyFailed } from './open-tunnel.ts'

export type Connector = buildConnector.connector
type Target = buildConnector.Options
type Callback = buildConnector.Callback

/** Connects to a target through the proxy, which is told to go to `address`: the target's host or number. */
export type ConnectThrough = (target: Target, address: string, callback: Callback) => void

/** undici's connector, through the egress proxy where one is configured. */
export function createEgressConnector(config: EgressConfig, options: buildConnector.BuildOptions): Connector {
  const direct = buildConnector(options)
  const through = createConnectThrough(config, options)
  if (through === undefined) return direct
  return (target, callback) => {
    const host = hostOf(target.hostname)
    if (config.NO_PROXY(host, portOf(target))) direct(target, callback)
    else through(target, host, callback)
  }
}

/** Undefined: there is no proxy. TLS goes to the target inside of the tunnel, by the target's name. */
export function createConnectThrough(
  { UPSTREAM_PROXY_URL: url }: EgressConfig,
  options: buildConnector.BuildOptions,
): ConnectThrough | undefined {
  if (url === undefined) return undefined
  const open = createTunnels(url, options.timeout ?? defaultTimeoutMs)
  const secure = buildConnector(options)
  return (target, address, callback) => {
    const authority = `${isIPv6(address) ? `[${address}]` : address}:${portOf(target)}`
    open(authority, (opened) => {
      if (opened instanceof ProxyFailed) callback(opened, null)
      else if (target.protocol === 'https:') secure({ ...target, httpSocket: opened }, callback)
      else callback(null, opened)
    })
  }
}

/** As undici has it. */
const defaultTimeoutMs = 10_000
