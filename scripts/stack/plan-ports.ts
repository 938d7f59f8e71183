import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { isPortFree } from '#infra/embedded/free-port.ts'

const BASE_PORTS = {
  gateway: 8080,
  api: 8000,
  dashboard: 3000,
  demoUpstream: 8090,
  kafka: 9092,
  kafkaController: 9093,
  registry: 8085,
  postgres: 5433,
  gatewayOperations: 9080,
  apiOperations: 9000,
  sinkOperations: 9001,
  scorerOperations: 9002,
  notifierOperations: 9003,
  dashboardOperations: 9004,
  redteamOperations: 9006,
}

export type Ports = Readonly<typeof BASE_PORTS>
export type PortName = keyof Ports

export function planPorts(offset: number): Ports {
  return Object.fromEntries(Object.entries(BASE_PORTS).map(([name, port]) => [name, port + offset])) as Ports
}

/** https://fetch.spec.whatwg.org/#port-blocking, those from our lowest port on. */
const blockedPorts: ReadonlySet<number> = new Set([
  ...[3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
])
/** Reached by protocols of their own, which know no such ports. */
const notHttp: ReadonlySet<PortName> = new Set(['kafka', 'kafkaController', 'postgres'])

/** Throws {@link CannotStart} for a port that no browser and no `fetch` contacts. */
export function refuseBlockedPorts(ports: Ports, wanted: readonly PortName[]): void {
  const blocked = wanted.filter((name) => !notHttp.has(name) && blockedPorts.has(ports[name]))
  if (blocked.length === 0) return
  const which = blocked.map((name) => `${ports[name]} for ${name}`).join(', ')
  throw new CannotStart(`Browsers and fetch contact nothing on port ${which}: choose another --port-offset.`)
}

/** Throws {@link CannotStart} naming every one of the ports that somebody else listens on. */
export async function assertPortsFree(ports: Ports, wanted: readonly PortName[]): Promise<void> {
  const free = await Promise.all(wanted.map((name) => isPortFree(ports[name])))
  const taken = wanted.filter((_name, index) => !free[index]).map((name) => `${ports[name]} (${name})`)
  if (taken.length === 0) return
  const what = taken.length === 1 ? `Port ${taken.join('')} is` : `Ports ${taken.join(', ')} are`
  throw new CannotStart(
    `${what} taken by other processes: stop them, or choose other ports with --port-offset N.`,
  )
}
