import type { RequestListener } from 'node:http'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { z } from 'zod'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { healthStatus, type Health } from '#runtime/service.ts'
import type { Span, Tracing } from '#runtime/tracing/tracing.ts'
import type { Authenticate } from './access/authenticate.ts'
import type { Principal } from './access/principal.ts'
import { createAnswerError } from './answer-error.ts'
import type { AnswerReservation, AnswerBudget } from './answer-budget.ts'
import type { BodyBudget } from './body-budget.ts'
import { parseJson } from './parse-json.ts'
import { methodNotAllowed, Problem } from './problem.ts'
import { currentRoute, type Reply, type Route } from './route.ts'
import { readBody } from './read-body.ts'
import { sendReply } from './send-reply.ts'
import { startRequestSpan } from './trace-request.ts'
import { validate } from './validate.ts'

const defaultBodyBytes = 256 * 1024
/** An unknown parameter is refused: the caller may have meant it to filter. */
const noQuery = z.strictObject({})
/** Enough for a batch of 32 MiB at 5 Mbit/s. */
const defaultBodyTimeoutMs = 60_000

interface AppOptions {
  routes: readonly Route[]
  authenticate: Authenticate
  bodyBudget: BodyBudget
  answerBudget: AnswerBudget
  /** How long a body may take to arrive. Default: a minute. */
  bodyTimeoutMs?: number
  health: () => Health
  log: Log
  metrics: Metrics
  /** Absent: no route is traced. */
  tracing?: Tracing | undefined
  /** Pages that no route describes: the documentation. */
  pages?: express.Router
}

/** The routes as an express application, which checks the caller, then the input, then calls the handler. */
export function createApp({
  routes,
  authenticate,
  bodyBudget,
  answerBudget,
  bodyTimeoutMs = defaultBodyTimeoutMs,
  health,
  log,
  metrics,
  tracing,
  pages,
}: AppOptions): RequestListener {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(measure(metrics))
  app.get(['/healthz', '/readyz'], (request, response) => {
    const now = health()
    response.status(healthStatus(request.path, now)).json(now)
  })
  if (pages !== undefined) app.use(pages)
  const stalled = metrics.counter(
    'sluice_http_stalled_answers_total',
    'Answers given up because the client took nothing for a minute',
    ['route'],
  )
  const onStalled = (route: Route) => stalled.inc({ route: route.path })
  const mounting = { authenticate, bodyBudget, answerBudget, bodyTimeoutMs, tracing, onStalled }
  for (const route of routes) mount(app, route, mounting)
  for (const [path, group] of Map.groupBy(routes, ({ path }) => path)) refuseOtherMethods(app, path, group)
  app.use((request) => {
    throw new Problem(404, 'ROUTE_NOT_FOUND', `there is nothing at ${request.method} ${request.path}`)
  })
  const answerError = createAnswerError(log)
  app.use(answerError)
  return (request, response) => {
    const broken = () => request.socket.destroy()
    // Express passes on an address without a path (`GET http://[`), and answers that broke off.
    app(request as Request, response as Response, (error: unknown = unreadable) => {
      if (response.headersSent) broken()
      else answerError(error, request as Request, response as Response, broken)
    })
  }
}

const unreadable = new Problem(400, 'BAD_REQUEST', 'the address of the request cannot be read')

interface Mounting extends Required<
  Pick<AppOptions, 'authenticate' | 'bodyBudget' | 'answerBudget' | 'bodyTimeoutMs'>
> {
  tracing: Tracing | undefined
  onStalled: (route: Route) => void
}

function mount(
  app: Express,
  route: Route,
  { authenticate, bodyBudget, answerBudget, bodyTimeoutMs, tracing, onStalled }: Mounting,
): void {
  // Before the body is read.
  const identify = async (request: Request, response: Response, next: NextFunction) => {
    response.locals['route'] = route.path
    if (tracing !== undefined && route.traced === true)
      response.locals['span'] = startRequestSpan(tracing, route, request, response)
    // A shared cache may not know that X-Service-Key identifies the caller. A reply with an ETag replaces
    // this.
    response.set('cache-control', 'no-store')
    response.locals['principal'] = await authenticate(
      request.headers,
      route.access,
      `${route.method} ${route.path}`,
    )
    next()
  }
  const maxBytes = route.maxBodyBytes ?? defaultBodyBytes
  const handle = async (
    request: Request,
    principal: Principal,
    answerReservation: AnswerReservation,
    span: Span | undefined,
  ): Promise<Reply> => {
    const bodyReservation = bodyBudget.enter(principal)
    try {
      const body = await readBody(request, {
        maxBytes,
        timeoutMs: bodyTimeoutMs,
        reservation: bodyReservation,
      })
      return await currentRoute.run(route.path, () =>
        route.handle({
          principal,
          params: route.params === undefined ? {} : validate(route.params, request.params),
          query: validate(route.query ?? noQuery, { ...request.query }),
          body: bodyOf(route, body),
          headers: request.headers,
          span,
          reserveBodyBudget: bodyReservation.reserve,
          reserveAnswerBudget: answerReservation.reserve,
        }),
      )
    } finally {
      bodyReservation.release()
    }
  }
  const answer = async (request: Request, response: Response) => {
    const principal = response.locals['principal'] as Principal
    const answerReservation = answerBudget.enter(principal, request, response)
    const span = response.locals['span'] as Span | undefined
    const reply = await handle(request, principal, answerReservation, span)
    await sendReply(request, response, reply, {
      reserve: answerReservation.reserve,
      onStalled: () => onStalled(route),
    })
  }
  app[route.method](expressPath(route.path), identify, answer)
}

function bodyOf(route: Route, bytes: Buffer): unknown {
  if (route.rawBody === true) return bytes
  if (route.body === undefined) return undefined
  return validate(route.body, bytes.length === 0 ? undefined : parseJson(bytes))
}

function refuseOtherMethods(app: Express, path: string, group: readonly Route[]): void {
  // Express answers HEAD with the GET handler.
  const allowed = group.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
  app.all(expressPath(path), (request) => {
    throw methodNotAllowed(request.method, allowed)
  })
}

/** `/api/requests/{id}` in express's syntax. */
function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function measure(metrics: Metrics) {
  const durations = metrics.histogram(
    'sluice_http_request_duration_seconds',
    'Answers by route',
    durationBuckets,
    ['method', 'route', 'status'],
  )
  return (request: Request, response: Response, next: NextFunction) => {
    const startedAt = performance.now()
    response.set('x-content-type-options', 'nosniff')
    response.once('close', () => {
      // Only known paths become labels: clients can invent any number.
      const route = typeof response.locals['route'] === 'string' ? response.locals['route'] : 'other'
      const method = route === 'other' ? 'other' : request.method
      durations.observe(
        { method, route, status: response.statusCode },
        (performance.now() - startedAt) / 1000,
      )
    })
    next()
  }
}
