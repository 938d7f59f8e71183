import express, { type NextFunction, type Request, type Response, type Router } from 'express'
// The package's main entry would run code that is for browsers.
import getAbsoluteFSPath from 'swagger-ui-dist/absolute-path.js'
import type { Authenticate } from '#http/access/authenticate.ts'
import { methodNotAllowed } from '#http/problem.ts'

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Sluice API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="icon" href="docs/favicon-32x32.png" />
  </head>
  <body>
    <div id="explorer"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/explorer.js"></script>
  </body>
</html>
`

// Addresses are relative, because the page may be opened under other origins than PUBLIC_BASE_URL, which its
// policy forbids.
const script = `const failed = (problem) => {
  document.getElementById('explorer').textContent = 'openapi.json cannot be read: ' + problem
}
const show = (spec) => {
  const here = new URL('.', location.href).href.replace(/\\/$/, '')
  window.ui = SwaggerUIBundle({
    spec: { ...spec, servers: [{ url: here }] },
    dom_id: '#explorer',
    validatorUrl: null,
    // Of more than 125 open operations Swagger UI 5.35 shows nine.
    docExpansion: 'none',
  })
}
fetch('openapi.json')
  .then((answer) => (answer.ok ? answer.json().then(show) : failed(answer.status)))
  .catch(failed)
`

// All resources are local, so the explorer works offline. It writes style attributes and inlines its images.
const policy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

interface DocsOptions {
  /** Makes the OpenAPI description, on the first request. */
  describe: () => object
  authenticate: Authenticate
  /** DOCS_REQUIRE_KEY. */
  requireKey: boolean
}

/** `/openapi.json`, and `/docs` to try it out. */
export function createDocsPages({ describe, authenticate, requireKey }: DocsOptions): Router {
  const router = express.Router()
  let json: string | undefined
  const admit = async (request: Request, response: Response, next: NextFunction) => {
    await authenticate(request.headers, requireKey ? 'read' : 'public')
    response.set('content-security-policy', policy)
    next()
  }
  router.get('/openapi.json', admit, (_request, response) => {
    response.type('json').send((json ??= JSON.stringify(describe())))
  })
  router.get('/docs', admit, (request, response) => {
    // Relative addresses would break there.
    if (request.path.endsWith('/')) response.redirect(308, '../docs')
    else response.type('html').send(page)
  })
  router.get('/docs/explorer.js', admit, (_request, response) => {
    response.type('js').send(script)
  })
  router.all(['/openapi.json', '/docs'], (request) => {
    throw methodNotAllowed(request.method, ['GET', 'HEAD'])
  })
  router.use('/docs', admit, express.static(getAbsoluteFSPath(), { index: false }))
  return router
}
