import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { serveOrders } from './bench-process.ts'

/** What both trees offer under different paths: the detectors moved in 0.2.0. */
interface Body {
  json: string
  value: unknown
}
interface Reader {
  readCall: (request: Body | null, response: Body | null) => unknown
}
interface Runner {
  runDetectors: (
    chosen: { builtIn: readonly string[]; custom: readonly never[] },
    call: unknown,
    takeTurn: () => Promise<void>,
    onVerdict: () => void,
  ) => Promise<void>
}

/** An order: the bodies of calls, as JSON texts. */
export interface CostOrder {
  scorers: readonly string[]
  calls: readonly { request: string; response: string | null }[]
}

// Runs the detectors of the tree given as the first argument; answers CPU microseconds of each call.
const root = process.argv[2] ?? ''
const load = async (path: string) => (await import(pathToFileURL(join(root, path)).href)) as unknown
const isMoved = existsSync(join(root, 'detectors/call-text.ts'))
const { readCall } = (await load(
  isMoved ? 'detectors/call-text.ts' : 'services/scorer/scoring/call-text.ts',
)) as Reader
const { runDetectors } = (await load('services/scorer/steps/run-detectors.ts')) as Runner

serveOrders('', async (order) => {
  const { scorers, calls } = order as CostOrder
  const costs: number[] = []
  for (const { request, response } of calls) {
    const before = process.cpuUsage()
    const call = readCall(bodyOf(request), response === null ? null : bodyOf(response))
    await runDetectors(
      { builtIn: scorers, custom: [] },
      call,
      () => Promise.resolve(),
      () => undefined,
    )
    const { user, system } = process.cpuUsage(before)
    costs.push(user + system)
  }
  return costs
})

function bodyOf(json: string): Body {
  return { json, value: JSON.parse(json) }
}
