import { buildDashboard, type Dashboard } from './build-dashboard.ts'
import { gateway } from './pages/gateway.ts'
import { overview } from './pages/overview.ts'
import { pipeline } from './pages/pipeline.ts'
import { processes } from './pages/processes.ts'
import { scoring } from './pages/scoring.ts'
import { tenants } from './pages/tenants.ts'
import { webhooks } from './pages/webhooks.ts'

export const dashboards: readonly Dashboard[] = [
  overview,
  pipeline,
  gateway,
  scoring,
  webhooks,
  tenants,
  processes,
]

/**
 * The files of infra/grafana/dashboards, which Grafana reads. `UPDATE_DOCS=1` before tests/documentation
 * writes them.
 */
export function dashboardFiles(): { name: string; text: string }[] {
  return dashboards.map((dashboard) => ({
    name: `${dashboard.name}.json`,
    text: `${JSON.stringify(buildDashboard(dashboard), null, 2)}\n`,
  }))
}
