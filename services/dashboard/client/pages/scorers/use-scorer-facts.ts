import { useMe } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { absent, formatCount, formatShare, formatUsd } from '../../formats/format-number.ts'

/** By a scorer's name: the calls it runs on, what reviews say of it, and what the judge cost for it. */
export function useScorerFacts(projectId: string) {
  const isAdmin = mayVisit(useMe().data?.role ?? 'viewer', { role: 'admin' })
  const query = { project_id: projectId }
  const calibration = useApi('GET /api/scorers/calibration', { query }).data
  const spend = useApi('GET /api/billing/judge-spend', { query }).data
  const project = useApi('GET /api/projects/{id}', { params: { id: projectId } }, { enabled: isAdmin }).data
  return {
    /** Sampling is a setting of the project, which administrators see. */
    shareOf(name: string): string {
      if (project === undefined) return isAdmin ? absent : ''
      const share = project.sampling[name] ?? 1
      return share === 1 ? 'All calls' : `${formatShare(share, 1)} of calls`
    },
    precisionOf(name: string): string {
      const known = calibration?.scorers.find(({ scorer_name: scorer }) => scorer === name)
      if (known?.precision == null) return absent
      return `${formatShare(known.precision.rate, 1)} of ${formatCount(known.reviewed)} reviewed`
    },
    spentOn(name: string): string {
      const known = spend?.by_scorer.find(({ scorer_name: scorer }) => scorer === name)
      return known === undefined ? absent : formatUsd(known.spent_usd)
    },
  }
}
