import { FIRST_PATIENCE_MS, lastLines } from '#infra/embedded/await-ready.ts'
import type { EmbeddedPart, Say, Waiting } from '#infra/embedded/embedded-part.ts'
import { fetchJars } from '#infra/embedded/fetch-jars.ts'
import { startKafka } from '#infra/embedded/start-kafka.ts'
import { startPostgres } from '#infra/embedded/start-postgres.ts'
import { startRegistry } from '#infra/embedded/start-registry.ts'
import type { PortName, Ports } from './plan-ports.ts'
import { isSet, type PartAddresses } from './plan-services.ts'
import type { Roster } from './roster.ts'
import type { Environment } from '#runtime/config.ts'
import { messageOf } from '#runtime/errors.ts'
import { rotateLog, type StatePaths } from './state-directory.ts'

type PartName = 'kafka' | 'registry' | 'postgres'

interface Part {
  name: PartName
  /** The environment variable that names a part which runs elsewhere. */
  variable: keyof PartAddresses
  /** The part's ports, that for clients first. */
  ports: [PortName, ...PortName[]]
  needsJava: boolean
}

const PARTS: readonly Part[] = [
  { name: 'kafka', variable: 'KAFKA_BROKERS', ports: ['kafka', 'kafkaController'], needsJava: true },
  { name: 'registry', variable: 'SCHEMA_REGISTRY_URL', ports: ['registry'], needsJava: true },
  { name: 'postgres', variable: 'DATABASE_URL', ports: ['postgres'], needsJava: false },
]

export interface PartsOptions {
  paths: StatePaths
  ports: Ports
  environment: Environment
  cacheDirectory: string
  roster: Roster
  say: Say
}

/** Ports of the parts that will be started here. */
export function portsOfParts(environment: Environment): PortName[] {
  return embedded(environment).flatMap(({ ports }) => ports)
}

/**
 * Starts each part that the environment does not name, all at once. Resolves with the addresses of all three.
 */
export async function startParts(options: PartsOptions): Promise<PartAddresses> {
  const { environment, cacheDirectory, say } = options
  // Here and not by the two Java parts at once, so that it is announced once.
  const here = embedded(environment)
  if (here.some(({ needsJava }) => needsJava)) await fetchJars(cacheDirectory, say)
  if (here.length > 0) say(`starting ${here.map(({ name }) => name).join(', ')}`)
  const outcomes = await Promise.allSettled(PARTS.map((part) => obtain(part, options)))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) throw failed.reason
  const addresses = outcomes.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value)
  return Object.fromEntries(addresses) as unknown as PartAddresses
}

async function obtain(
  { name, variable, ports: [portName] }: Part,
  options: PartsOptions,
): Promise<[string, string]> {
  const { environment, paths, ports, roster, say } = options
  const given = environment[variable]
  if (isSet(given)) {
    roster.addExternal({ name, port: null, probe: `tcp://${endpointOf(given)}`, stage: 'parts' })
    return [variable, given]
  }
  let address = ''
  let patienceMs = FIRST_PATIENCE_MS
  const logFile = paths.log(name)
  const startPart = async (signal: AbortSignal) => {
    await rotateLog(logFile)
    const telling = tellOfStart(name, logFile, say)
    // A part that was once ended for doing nothing gets twice as long the next time.
    const waiting = { patienceMs, signal }
    patienceMs = Math.min(MOST_PATIENCE_MS, patienceMs * 2)
    const part = await start(name, logFile, { ...options, ...waiting }).finally(() => clearInterval(telling))
    patienceMs = FIRST_PATIENCE_MS
    address = part.address
    return { pid: part.pid, exited: part.exited, stop: part.stop, ready: Promise.resolve() }
  }
  const port = ports[portName]
  const place = { name, port, probe: `tcp://127.0.0.1:${port}`, stage: 'parts' as const }
  await roster.add(place, { logFile, start: startPart, say })
  return [variable, address]
}

const MOST_PATIENCE_MS = 3_600_000
const TELL_EVERY_MS = 30_000

/** Reports now and then what a slow start is doing. */
function tellOfStart(name: PartName, logFile: string, say: Say): NodeJS.Timeout {
  const began = performance.now()
  const tell = async () => {
    const [line = 'nothing'] = await lastLines(logFile, 1)
    say(
      `${name} is still starting after ${Math.round((performance.now() - began) / 1000)} s; its log says: ${line}`,
    )
  }
  return setInterval(() => {
    void tell().catch((error: unknown) => say(`${logFile} cannot be read: ${messageOf(error)}`))
  }, TELL_EVERY_MS)
}

function start(name: PartName, logFile: string, options: PartsOptions & Waiting): Promise<EmbeddedPart> {
  const { paths, ports, cacheDirectory, say, patienceMs, signal } = options
  const place = { directory: paths.data(name), logFile, patienceMs, signal }
  switch (name) {
    case 'kafka':
      return startKafka({
        ...place,
        port: ports.kafka,
        controllerPort: ports.kafkaController,
        cacheDirectory,
        say,
      })
    case 'registry':
      return startRegistry({ ...place, port: ports.registry, cacheDirectory, say })
    case 'postgres':
      return startPostgres({ ...place, port: ports.postgres })
  }
}

function embedded(environment: Environment): Part[] {
  return PARTS.filter(({ variable }) => !isSet(environment[variable]))
}

/** host:port of a URL, or of the first broker in a list. */
function endpointOf(address: string): string {
  if (!address.includes('://')) return address.split(',')[0]?.trim() ?? ''
  const { protocol, hostname, port } = new URL(address)
  const standard = { 'http:': 80, 'https:': 443 }[protocol] ?? 5432
  return `${hostname}:${port || standard}`
}
