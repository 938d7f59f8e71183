import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
  type RouteComponent,
} from '@tanstack/react-router'
import { parseSearch, writeSearch } from '../formats/search-texts.ts'
import { NotFound, PageCrashed, Waiting } from '../parts/page-states.tsx'
import { readTexts } from './address.ts'
import { PageFrame } from './page-frame.tsx'
import type { PageEntry } from './page-entry.ts'
import { pages } from './pages.ts'
import { Shell } from './shell.tsx'

/** The pages by their paths. */
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
  const Content = lazyRouteComponent(async () => ({ default: await page.load() }))
  const Framed: RouteComponent = () => (
    <PageFrame page={page}>
      <Content />
    </PageFrame>
  )
  // Begun when the pointer is over a link.
  Framed.preload = () => Content.preload?.()
  return Framed
}
