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
/** A process that serves has a port of its name; every process has an operations port. */
export type PortName = ServedName | `${ProcessName}Operations` | keyof typeof PART_PORTS
export type Ports = Readonly<Record<PortName, number>>

const servicePorts = processNames.flatMap((name): [PortName, number][] => {
  const { port, operationsPort } = definitionOf(name)
  const operations: [PortName, number] = [`${name}Operations`, operationsPort]
  return port === undefined ? [operations] : [[name as ServedName, port], operations]
})

/** Ports of the processes in the table of services. */
export const servicePortNames: readonly PortName[] = servicePorts.map(([name]) => name)

export function planPorts(offset: number): Ports {
  const ports = [...servicePorts, ...Object.entries(PART_PORTS)]
  return Object.fromEntries(ports.map(([name, port]) => [name, port + offset])) as Ports
}

/** https://fetch.spec.whatwg.org/#port-blocking, from our lowest port on. */
const blockedPorts: ReadonlySet<number> = new Set([
  ...[3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
])
/** Their protocols are not HTTP and have no blocked ports. */
const notHttp: ReadonlySet<PortName> = new Set(['kafka', 'kafkaController', 'postgres'])

/** Throws {@link CannotStart} for a port that browsers and `fetch` refuse. */
export function refuseBlockedPorts(ports: Ports, wanted: readonly PortName[]): void {
  const blocked = wanted.filter((name) => !notHttp.has(name) && blockedPorts.has(ports[name]))
  if (blocked.length === 0) return
  const which = blocked.map((name) => `${ports[name]} for ${name}`).join(', ')
  throw new CannotStart(`Browsers and fetch contact nothing on port ${which}: choose another --port-offset.`)
}

/** Throws {@link CannotStart} with every port that is in use. */
export async function assertPortsFree(ports: Ports, wanted: readonly PortName[]): Promise<void> {
  const free = await Promise.all(wanted.map((name) => isPortFree(ports[name])))
  const taken = wanted.filter((_name, index) => !free[index]).map((name) => `${ports[name]} (${name})`)
  if (taken.length === 0) return
  const what = taken.length === 1 ? `Port ${taken.join('')} is` : `Ports ${taken.join(', ')} are`
  throw new CannotStart(
    `${what} taken by other processes: stop them, or choose other ports with --port-offset N.`,
  )
}
