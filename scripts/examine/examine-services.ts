import { whyFetchFailed } from '#infra/why-fetch-failed.ts'
import { examineClock } from './examine-clock.ts'
import type { System } from './find-system.ts'
import { ok, problem, skipped, warning, type Finding } from './finding.ts'

const timeoutMs = 5_000

interface Answer {
  status: string
  problems?: Record<string, string>
}

/** As in the alert SluiceRestarting. */
const manyEnds = 3
const manyWithinMs = 1_800_000
const overAfterMs = 600_000

/** Status and host clock of each service, and processes that restart repeatedly. */
export async function examineServices(system: System): Promise<Finding[]> {
  return [...(await examineAnswers(system)), ...examineEnds(system)]
}

/** Between two restarts a process answers as if healthy. */
function examineEnds({ processes, now }: System): Finding[] {
  return processes.flatMap(({ name, endedAt = [] }) => {
    const ages = endedAt.map((at) => now() - Date.parse(at)).filter((ms) => ms < manyWithinMs)
    const lastMs = ages.at(-1)
    if (lastMs === undefined || lastMs > overAfterMs) return []
    const times = ages.length === 1 ? 'once' : `${ages.length} times`
    return [
      (ages.length > manyEnds ? problem : warning)(
        'restarts',
        `${name} has ended ${times} within half an hour, the last time ${Math.round(lastMs / 1_000)} s ago`,
        `the end of logs/${name}.log; docs/runbooks/SluiceRestarting.md`,
      ),
    ]
  })
}

async function examineAnswers({ operations, now }: System): Promise<Finding[]> {
  const places = Object.entries(operations)
  if (places.length === 0)
    return [skipped('services', 'no addresses are known: name them with --service sink=http://sink:9001')]
  return (await Promise.all(places.map(([name, url]) => examineService(name, url, now)))).flat()
}

async function examineService(name: string, url: string, now: () => number): Promise<Finding[]> {
  const before = now()
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(new URL('/readyz', url), { signal }).catch(whyFetchFailed)
  if (typeof response === 'string')
    return [problem('services', `${name} does not answer at ${url}: ${response}`, remedyOf(response))]
  const after = now()
  const answer = await readAnswer(response).catch(whyFetchFailed)
  if (typeof answer === 'string')
    return [problem('services', `${name} answers at ${url} and breaks off: ${answer}`, remedyOf(answer))]
  if (answer === undefined) {
    const what = `what answers at ${url} with ${response.status} is no ${name} of Sluice`
    return [problem('services', what, 'the address given with --service, or OPS_PORT')]
  }
  const why = Object.entries(answer.problems ?? {}).map(([part, text]) => `${part}: ${text}`)
  const what = [`${name} says ${answer.status}`, ...why].join('; ')
  const said =
    answer.status === 'ok'
      ? ok('services', what)
      : (response.ok ? warning : problem)('services', what, `what it names; the log of ${name}`)
  const date = Date.parse(response.headers.get('date') ?? '')
  // The header has whole seconds, and Node reuses it for a second.
  const clock = Number.isNaN(date) ? [] : [examineClock(`the host of ${name}`, date, before, after, 2_000)]
  return [said, ...clock.filter(({ state }) => state !== 'ok')]
}

/** Undefined if the answer is not from a service of Sluice. Rejects if it breaks off or times out. */
async function readAnswer(response: Response): Promise<Answer | undefined> {
  const answer = (await response.json().catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) throw error
  })) as Partial<Answer> | undefined
  return typeof answer?.status === 'string' ? { ...answer, status: answer.status } : undefined
}

const absent = 'docs/runbooks/SluiceServiceDown.md'

/** Depends on the network error. */
function remedyOf(why: string): string {
  if (/ENOTFOUND|EAI_AGAIN/.test(why))
    return `the name has to resolve from here: the address given with --service; ${absent}`
  if (/ECONNREFUSED/.test(why))
    return `nobody listens there: start it; or OPS_PORT and OPS_HOST, if it should answer from elsewhere; ${absent}`
  if (/no answer in time|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/.test(why))
    return `it hangs, a firewall or network policy keeps this host out, or nobody resolves its name: ask from its own host; ${absent}`
  return `the address given with --service; ${absent}`
}
