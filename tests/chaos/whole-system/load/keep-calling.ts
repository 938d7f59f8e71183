import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '#runtime/errors.ts'
import { newId } from '#schemas/ids.ts'
import { createRandom } from '../../../simulation/world/random.ts'
import { realPrompts } from '../../../support/real-prompts.ts'
import type { ChaosProject, ChaosProjects } from '../fixture/make-projects.ts'
import type { ServiceStarter } from '../fixture/start-services.ts'
import { callGateway } from './call-gateway.ts'
import { textOf, type CallContent, type ClientCall } from './client-call.ts'
import { logCall } from './log-call.ts'

export interface Calling {
  /** All that were begun. */
  calls: readonly ClientCall[]
  /** Answers that nobody should get. */
  problems: readonly string[]
  /** No more calls; resolves when those under way are answered, or given up by their clients. */
  stop(): Promise<void>
}

/** Read for each call: processes come and go. */
type Addresses = Pick<ServiceStarter, 'gatewayUrls' | 'loggingUrls' | 'proxyApiKey'>

interface Load {
  fixture: { addresses: Addresses; projects: ChaosProjects }
  seed: number
  callsPerSecond: number
}

/** Calls a second through the gateways, and to ingest for each of the projects. */
const shares = { gateway: 0.55, open: 0.15, limited: 0.2 }
/** Of the calls, those whose verdicts are known beforehand. The rest are prompts of the data sets. */
const contentShares: Readonly<Record<CallContent, number>> = { card: 0.1, harmless: 0.3 }
/** A client that is told to come later does so for this long after the end of the load. */
const patienceMs = 240_000

/** Calls come at their rate whatever becomes of those before: nobody waits for anybody. */
export function startCalling({ fixture: { addresses, projects }, seed, callsPerSecond }: Load): Calling {
  const random = createRandom(seed)
  const prompts = realPrompts(600)
  const calls: ClientCall[] = []
  const problems: string[] = []
  const underWay = new Set<Promise<void>>()
  const ending = new AbortController()
  const patience = new AbortController()

  const begin = (count: number) => {
    const content = drawContent(random.next())
    const prompt = content === null ? (prompts[count % prompts.length] as string) : textOf[content]
    const drawn = random.next()
    const call = (project: ChaosProject['name'], way: ClientCall['way']) => {
      const begun: ClientCall = { id: newId('request'), project, way, end: 'unknown', content }
      calls.push(begun)
      return begun
    }
    if (drawn < shares.gateway) {
      const url = addresses.gatewayUrls[count % addresses.gatewayUrls.length] as string
      const asked = { url, key: addresses.proxyApiKey, prompt, isStreamed: random.chance(0.5) }
      return callGateway(call('open', 'gateway'), asked)
    }
    const other = drawn < shares.gateway + shares.open + shares.limited ? 'limited' : 'private'
    const name = drawn < shares.gateway + shares.open ? 'open' : other
    const urls = () => addresses.loggingUrls
    const logged = { urls, key: projects[name].apiKey, prompt, signal: patience.signal }
    return logCall(call(name, 'direct'), logged)
  }
  const keepOn = async () => {
    for (let count = 0; !ending.signal.aborted; count++) {
      const one: Promise<void> = begin(count)
        .catch((error: unknown) => void problems.push(messageOf(error)))
        .finally(() => underWay.delete(one))
      underWay.add(one)
      await sleep(random.between(0.5, 1.5) * (1_000 / callsPerSecond))
    }
  }
  const running = keepOn()
  return {
    calls,
    problems,
    async stop() {
      ending.abort()
      await running
      const timer = setTimeout(() => patience.abort(), patienceMs)
      await Promise.all(underWay)
      clearTimeout(timer)
    },
  }
}

function drawContent(drawn: number): CallContent | null {
  if (drawn < contentShares.card) return 'card'
  return drawn < contentShares.card + contentShares.harmless ? 'harmless' : null
}
