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
  /** All calls that were started. */
  calls: readonly ClientCall[]
  /** Answers that no client should get. */
  problems: readonly string[]
  /** Starts no more calls. Resolves when the current ones are answered or given up. */
  stop(): Promise<void>
}

/** Read for each call: processes come and go. */
type Addresses = Pick<ServiceStarter, 'gatewayUrls' | 'loggingUrls' | 'proxyApiKey'>

interface Load {
  fixture: { addresses: Addresses; projects: ChaosProjects }
  seed: number
  callsPerSecond: number
}

/** Shares of calls: through gateways, and directly to ingest by project. */
const shares = { gateway: 0.55, open: 0.15, limited: 0.2 }
/** Shares of calls whose verdicts are known in advance. The rest are prompts of the data sets. */
const contentShares: Readonly<Record<CallContent, number>> = { card: 0.1, harmless: 0.3 }
/** How long clients that were told to retry do so after the end of the load. */
const patienceMs = 240_000

/** Calls come at a constant rate and do not wait for each other. */
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
