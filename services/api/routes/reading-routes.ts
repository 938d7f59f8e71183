import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { Route } from '#http/route.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { alertRuleRoutes } from './alert-rule-routes.ts'
import { calibrationRoutes } from './calibration-routes.ts'
import { costRoutes } from './cost-routes.ts'
import { createStreamPermits, exportLimits } from './stream-permits.ts'
import { exportRoutes } from './export-routes.ts'
import { facetRoutes } from './facet-routes.ts'
import { findingRoutes } from './finding-routes.ts'
import { requestDeliveryRoutes } from './request-delivery-routes.ts'
import { requestRoutes } from './request-routes.ts'
import { reviewRoutes } from './review-routes.ts'
import { scoreRoutes } from './score-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { statsRoutes } from './stats-routes.ts'
import { statusRoutes } from './status-routes.ts'
import { suppressionRoutes } from './suppression-routes.ts'
import { toolRoutes } from './tool-routes.ts'
import { userRoutes } from './user-routes.ts'

/** Recorded calls and reports on them. */
export function readingRoutes(given: { databases: ProjectDatabases; sealer: Sealer; clock: Clock }): Route[] {
  const parts = { ...given, permits: createStreamPermits(given.clock, exportLimits) }
  return [
    // Before requests, whose {id} would match `facets` and `export`.
    ...facetRoutes(parts),
    ...exportRoutes(parts),
    ...requestRoutes(parts),
    ...requestDeliveryRoutes(parts),
    ...statsRoutes(parts),
    ...statusRoutes(parts),
    ...costRoutes(parts),
    ...userRoutes(parts),
    ...toolRoutes(parts),
    ...sessionRoutes(parts),
    ...reviewRoutes(parts),
    ...suppressionRoutes(parts),
    ...findingRoutes(parts),
    ...alertRuleRoutes(parts),
    ...calibrationRoutes(parts),
    ...scoreRoutes(parts),
  ]
}
