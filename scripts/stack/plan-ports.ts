import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { isPortFree } from '#infra/embedded/free-port.ts'
import { definitionOf, processNames, type ProcessName, type services } from '#schemas/services.ts'

const PART_PORTS = {
  demoUpstream: 8090,
  kafka: 9092,
  kafkaController: 9093,
  registry: 8085,
  postgres: 5433,
}

type ServedName = {
  [N in ProcessName]: (typeof services)[N] extends { port: number } ? N : never
}[ProcessName]
/** A served process has a port of its name; every process has one of operations. */
export type PortName = ServedName | `${ProcessName}Operations` | keyof typeof PART_PORTS
export type Ports = Readonly<Record<PortName, number>>

const servicePorts = processNames.flatMap((name): [PortName, number][] => {
  const { port, operationsPort } = definitionOf(name)
  const operations: [PortName, number] = [`${name}Operations`, operationsPort]
  return port === undefined ? [operations] : [[name as ServedName, port], operations]
})

/** What the processes of the table of services listen on. */
export const servicePortNames: readonly PortName[] = servicePorts.map(([name]) => name)

export function planPorts(offset: number): Ports {
  const ports = [...servicePorts, ...Object.entries(PART_PORTS)]
  return Object.fromEntries(ports.map(([name, port]) => [name, port + offset])) as Ports
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
