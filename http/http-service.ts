import type { Router } from 'express'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { Health, Service } from '#runtime/service.ts'
import type { Authenticate } from './access/authenticate.ts'
import type { AnswerBudget } from './answer-budget.ts'
import type { BodyBudget } from './body-budget.ts'
import { createApp } from './create-app.ts'
import { createHttpServer } from './http-server.ts'
import type { Route } from './route.ts'

/** What the routes use, started before the server and stopped after it. */
export interface HttpCore {
  authenticate: Authenticate
  bodyBudget: BodyBudget
  answerBudget: AnswerBudget
  start(): Promise<void>
  stop(): Promise<void>
  /** One line for each part that is unhealthy. */
  problems(): Record<string, string>
}

interface HttpServiceOptions extends ProcessDependencies {
  core: HttpCore
  routes: readonly Route[]
  pages?: Router
  host: string
  port: number
  leadMs: number
}

export interface HttpService extends Service {
  /** The port that it listens on; 0 before it does. */
  port: () => number
}

/** Routes served over HTTP. `stop` finishes the requests under way, then closes what they used. */
export function createHttpService({
  core,
  routes,
  pages,
  host,
  port,
  leadMs,
  log,
  metrics,
  tracing,
}: HttpServiceOptions): HttpService {
  let state: 'starting' | 'serving' | 'stopping' = 'starting'
  let stopped: Promise<void> | undefined
  const done = Promise.withResolvers<undefined>()
  const health = (): Health => healthOf(state, core.problems())
  const app = createApp({
    routes,
    authenticate: core.authenticate,
    bodyBudget: core.bodyBudget,
    answerBudget: core.answerBudget,
    health,
    log,
    metrics,
    tracing,
    ...(pages === undefined ? {} : { pages }),
  })
  const server = createHttpServer(app, { host, port, leadMs })
  const stopAll = async () => {
    state = 'stopping'
    await server.stop()
    await core.stop()
    done.resolve(undefined)
  }
  return {
    async start() {
      await core.start()
      await server.start()
      state = 'serving'
      log.info({ host, port: server.port() }, 'listening')
    },
    stop: () => (stopped ??= stopAll()),
    health,
    done: done.promise,
    port: server.port,
  }
}

/** `degraded` while a part is unhealthy: the service still does what it can. */
function healthOf(state: 'starting' | 'serving' | 'stopping', problems: Record<string, string>): Health {
  if (state !== 'serving') return { status: state }
  return Object.keys(problems).length === 0 ? { status: 'ok' } : { status: 'degraded', problems }
}
