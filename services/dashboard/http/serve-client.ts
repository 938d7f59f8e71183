import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import express, { type NextFunction, type Request, type Response, type Router } from 'express'
import { Problem } from '#http/problem.ts'
import { nonceOf } from './security-headers.ts'

/** Placeholder for the nonce in index.html (client/vite.config.js). */
const nonceMarker = '__CSP_NONCE__'

/** Serves the client. Hashed files are cacheable for ever; the page is rendered for each request. */
export function createServeClient(directory: string): Router {
  const indexFile = join(directory, 'index.html')
  const index = existsSync(indexFile) ? readFileSync(indexFile, 'utf8') : undefined
  const packed = new Set(
    globSync('assets/*.br', { cwd: directory }).map((name) => `/${name.replaceAll('\\', '/')}`),
  )
  const router = express.Router()
  router.use('/assets', (request: Request, response: Response, next: NextFunction) => {
    const name = `/assets${request.path}.br`
    response.vary('accept-encoding')
    if (packed.has(name) && request.acceptsEncodings('br') === 'br') {
      response.type(extensionOf(request.path)).set('content-encoding', 'br')
      request.url = `${request.path}.br`
    }
    next()
  })
  const assets = { immutable: true, maxAge: '1y', index: false, fallthrough: true, redirect: false } as const
  router.use('/assets', express.static(join(directory, 'assets'), assets))
  router.use('/assets', () => {
    throw new Problem(404, 'ROUTE_NOT_FOUND', 'there is no such file; load the page again')
  })
  router.use(express.static(directory, { maxAge: '1h', index: false, redirect: false, dotfiles: 'ignore' }))
  router.get('/{*page}', (_request: Request, response: Response) => {
    if (index === undefined) {
      throw new Problem(503, 'CLIENT_NOT_BUILT', `there is no ${indexFile}: run npm run build:dashboard`)
    }
    response
      .set('cache-control', 'no-store')
      .type('html')
      .send(index.replaceAll(nonceMarker, nonceOf(response)))
  })
  return router
}

function extensionOf(path: string): string {
  return path.slice(path.lastIndexOf('.'))
}
