import type { Answer } from './start-api.ts'

/**
 * Counts of calls, unsafe calls and scores according to lists, exports and reports. `range` spans whole
 * hours.
 */
export async function countEverywhere(get: (path: string) => Promise<Answer>, range: string, query: string) {
  const ask = (path: string, more = '') => get(`${path}?${range}&${query}${more}`)
  const total = async (path: string, more?: string) => (await ask(path, more)).json['total']
  const exported = async (more = '') =>
    (await ask('/api/requests/export', `&format=jsonl${more}`)).text.trimEnd().split('\n').length
  const facets = (await ask('/api/requests/facets')).json
  const labels = facets['label'] as { value: string; count: number }[]
  const { series } = (await ask('/api/stats', '&step=1d')).json as {
    series: { total: { calls: number; unsafe: number } }[]
  }
  const { scorers } = (await ask('/api/safety-scores/summary')).json as {
    scorers: { total: number; unsafe: number }[]
  }
  return {
    calls: {
      list: await total('/api/requests'),
      export: await exported(),
      facets: facets['calls'],
      stats: series[0]?.total.calls,
    },
    unsafe: {
      list: await total('/api/requests', '&label=unsafe'),
      export: await exported('&label=unsafe'),
      facets: labels.find(({ value }) => value === 'unsafe')?.count,
      stats: series[0]?.total.unsafe,
    },
    scores: {
      list: await total('/api/safety-scores'),
      summary: scorers.reduce((sum, scorer) => sum + scorer.total, 0),
    },
    unsafeScores: {
      list: await total('/api/safety-scores', '&label=unsafe'),
      summary: scorers.reduce((sum, scorer) => sum + scorer.unsafe, 0),
    },
  }
}
