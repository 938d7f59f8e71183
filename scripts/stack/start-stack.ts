import type { Say } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'
import { describeConnection, type Connection } from './connection.ts'
import { ensureClient } from './ensure-client.ts'
import { ensureAdministrator, type Administrator } from './first-administrator.ts'
import { ensureFirstProject } from './first-project.ts'
import {
  assertPortsFree,
  planPorts,
  refuseBlockedPorts,
  servicePortNames,
  type PortName,
} from './plan-ports.ts'
import { addressOf, isSet, planServices, upstreamUrl, type ServicePlan } from './plan-services.ts'
import { prepareParts } from './prepare-parts.ts'
import { createRoster, type Roster, type Stage } from './roster.ts'
import type { Environment } from '#runtime/config.ts'
import { obtainSecrets } from './secrets.ts'
import { assertNotRunning, removeRecord } from './stack-record.ts'
import { portsOfParts, startParts } from './start-parts.ts'
import { serviceStarter } from './start-service.ts'
import { cutLogs, openState, writeJson, type StatePaths } from './state-directory.ts'

export interface StackOptions {
  stateDirectory: string
  portOffset: number
  environment: Environment
  cacheDirectory: string
  say: Say
  /** Aborted: nothing more is started, and `startStack` throws the signal's reason. */
  signal: AbortSignal
}

export interface RunningStack {
  connection: Connection
  administrator: Administrator
  upstream: string
  stop: () => Promise<void>
}

/**
 * Starts everything in order. Resolves when all of it answers. On failure, stops what had been started and
 * throws.
 */
export async function startStack(options: StackOptions): Promise<RunningStack> {
  const { stateDirectory, portOffset, environment } = options
  const paths = await openState(stateDirectory)
  await assertNotRunning(paths.record, stateDirectory)
  const ports = planPorts(portOffset)
  const demo: PortName[] = isSet(environment['UPSTREAM_URL']) ? [] : ['demoUpstream']
  const wanted = [...portsOfParts(environment), ...servicePortNames, ...demo]
  refuseBlockedPorts(ports, wanted)
  await assertPortsFree(ports, wanted)
  const roster = createRoster(paths.record, portOffset, options.say)
  await roster.setPhase('starting')
  const cutting = keepLogsCut(paths, options.say)
  const stop = async () => {
    clearInterval(cutting)
    // A full disk may prevent the record, but not the stop.
    await roster
      .setPhase('stopping')
      .catch((error: unknown) => options.say(`not recorded: ${messageOf(error)}`))
    await roster.stop()
    await removeRecord(paths.record)
  }
  try {
    const started = await startInOrder({ ...options, paths, ports, roster })
    await roster.setPhase('ready')
    return { ...started, upstream: upstreamUrl({ environment, ports }), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const CUT_EVERY_MS = 60_000

function keepLogsCut(paths: StatePaths, say: Say): NodeJS.Timeout {
  let cutting = false
  const cut = async () => {
    // A slow disk may take longer than the interval, and a second cut would write the same file.
    if (cutting) return
    cutting = true
    await cutLogs(paths.logs).catch((error: unknown) => say(`a log could not be cut: ${messageOf(error)}`))
    cutting = false
  }
  return setInterval(() => void cut(), CUT_EVERY_MS)
}

interface Steps extends StackOptions {
  paths: StatePaths
  ports: ReturnType<typeof planPorts>
  roster: Roster
}

async function startInOrder(options: Steps): Promise<Pick<RunningStack, 'connection' | 'administrator'>> {
  const { paths, ports, environment, roster, say, signal } = options
  const secrets = await obtainSecrets(paths.secrets, environment)
  const addresses = await startParts(options)
  signal.throwIfAborted()
  await prepareParts(addresses, environment, say)
  signal.throwIfAborted()

  say('starting the services')
  const facts = { ports, addresses, secrets, spoolDirectory: paths.spool, environment }
  const { api, consumers, demoUpstream, gateway, dashboard } = planServices(facts)
  const clientBuilt = ensureClient(say)
  const start = (plan: ServicePlan, stage: Stage) => {
    const logFile = paths.log(plan.name)
    const place = { name: plan.name, port: plan.port, probe: plan.readyUrl, stage }
    return roster.add(place, { logFile, start: serviceStarter(plan, logFile), say })
  }
  const startFront = async () => {
    await start(api, 'middle')
    const secret = secrets.INTERNAL_API_SECRET
    const project = await ensureFirstProject(addressOf(ports.api), secret, paths.project)
    const operator = { baseUrl: addressOf(ports.api), secret }
    const administrator = await ensureAdministrator(operator, environment)
    await clientBuilt
    signal.throwIfAborted()
    await settleAll([start(gateway(project.api_key), 'front'), start(dashboard, 'front')])
    return { project, administrator }
  }
  const frontStarted = startFront()
  const others = consumers.map((plan) => start(plan, 'middle'))
  if (demoUpstream) others.push(start(demoUpstream, 'front'))
  await settleAll([frontStarted, clientBuilt, ...others])
  const { project, administrator } = await frontStarted
  signal.throwIfAborted()
  const connection = describeConnection(facts, project)
  await writeJson(paths.connection, connection)
  return { connection, administrator }
}

/**
 * Waits for all, also after a failure: what is still starting could not be stopped. Then throws the first
 * error.
 */
async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(promises)
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) throw failed.reason
}
