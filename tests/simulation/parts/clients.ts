import type { Service } from '#runtime/service.ts'
import { topics } from '#schemas/topics.ts'
import type { ProjectKey } from '#http/access/principal.ts'
import { Problem } from '#http/problem.ts'
import { createLogCalls, type LogCalls, type LogResult } from '#services/ingest/log-calls.ts'
import { createAdmit } from '#services/ingest/steps/admit-together.ts'
import { createPublishCall } from '#services/ingest/steps/publish-call.ts'
import { createSimQuotaStore } from '../tables/quota-table.ts'
import type { Kept } from '../world/keep-running.ts'
import type { World } from '../world/world.ts'
import type { SimContext } from './context.ts'

/** One call that a client wants recorded, and the last answer to it. */
export interface ClientCall {
  id: string
  project: ProjectKey
  body: Record<string, unknown>
  /** `taken` and `refused` are final. */
  end: 'none' | 'taken' | 'refused'
  /** Number of accepting answers. */
  answers: number
}

/** Ingest between HTTP request and answer: services/ingest/log-calls.ts and its parts. */
export function createSimIngest(context: SimContext, quotaLimit: number): LogCalls {
  const { database, producer, codecs, sealer, clock, metrics } = context
  return createLogCalls({
    keys: {
      findKey: () => Promise.resolve(undefined),
      findProject: () => Promise.resolve(undefined),
      forgetProject: () => undefined,
    },
    admit: createAdmit(createSimQuotaStore(database, quotaLimit), clock),
    publish: createPublishCall({
      producer,
      sealer,
      sign: () => null,
      logged: { name: topics.requestLogged.name, encoder: codecs.calls },
      ephemeral: { name: topics.requestEphemeral.name, encoder: codecs.calls },
    }),
    prices: { costOf: () => null },
    clock,
    metrics,
    maxRecordBytes: 1_000_000,
  })
}

/** A process that only answers. */
export function answering(): Service {
  return {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    health: () => ({ status: 'ok' }),
    done: new Promise(() => undefined),
  }
}

const clientTimeoutMs = 12_000

/**
 * Sends a call until the answer is final. Without an answer it retries with another process, under the same
 * id.
 */
export function sendCall(
  world: World,
  call: ClientCall,
  ingests: readonly { kept: Kept; logCalls: () => LogCalls }[],
): void {
  const again = () => void world.after(world.random.between(200, 2_000), send, null)
  const onAnswer = (result: LogResult) => {
    if ('id' in result) {
      call.end = 'taken'
      call.answers++
    } else if (result.status === 429) call.end = call.end === 'taken' ? 'taken' : 'refused'
    else if (result.status < 500) throw new Error(`${call.id}: ${result.message}`)
    else again()
  }
  const send = () => {
    const { kept, logCalls } = world.random.pick(ingests)
    const { process } = kept
    let isAnswered = false
    const once = (callback: () => void) => {
      if (isAnswered) return
      isAnswered = true
      callback()
    }
    world.after(clientTimeoutMs, () => once(again), null)
    const arrive = () => {
      const record = Buffer.from(
        JSON.stringify({ id: call.id, project_id: call.project.project.projectId, ...call.body }),
      )
      const failed = (error: unknown): LogResult[] => [
        error instanceof Problem ? error : new Problem(500, 'INTERNAL', String(error)),
      ]
      void logCalls()({ kind: 'key', key: call.project }, [record])
        .catch(failed)
        .then(([result]) => {
          world.after(1, () => once(() => onAnswer(result as LogResult)), null)
        })
    }
    world.after(world.faults.latencyMs(), arrive, process)
  }
  send()
}
