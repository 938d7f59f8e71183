import {
  createRootRoute,
  createRoute,
  createRouter,
  retainSearchParams,
  type RouteComponent,
} from '@tanstack/react-router'
import { parseSearch, writeSearch } from '../formats/search-texts.ts'
import { lazyPart } from '../parts/lazy-part.ts'
import { PageCrashed } from '../parts/page-crashed.tsx'
import { NotFound, Waiting } from '../parts/page-states.tsx'
import { readTexts } from './address.ts'
import { PageFrame } from './page-frame.tsx'
import type { PageEntry } from './page-entry.ts'
import { pages } from './pages.ts'
import { Shell } from './shell.tsx'

/** Creates the router of all pages. */
export function createAppRouter() {
  const root = createRootRoute({
    component: Shell,
    notFoundComponent: NotFound,
    validateSearch: readTexts,
    search: { middlewares: [retainSearchParams(['project'])] },
  })
  const routes = pages.map((page) =>
    createRoute({ getParentRoute: () => root, path: page.path, component: framed(page) }),
  )
  return createRouter({
    routeTree: root.addChildren(routes),
    parseSearch,
    stringifySearch: writeSearch,
    defaultPreload: 'intent',
    defaultPendingComponent: Waiting,
    defaultErrorComponent: PageCrashed,
    scrollRestoration: true,
  })
}

function framed(page: PageEntry): RouteComponent {
  const Content = lazyPart(page.load)
  const Framed: RouteComponent = () => (
    <PageFrame page={page}>
      <Content />
    </PageFrame>
  )
  // Preloads when the pointer is over a link.
  Framed.preload = async () => {
    // Errors are shown when the page is opened.
    await page.load().catch(() => undefined)
  }
  return Framed
}
