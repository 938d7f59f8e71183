import { expect, test } from '@jest/globals'
import { scopedTo } from './scope-query.ts'

const scope = 'cluster=~"$cluster",namespace=~"$namespace",release=~"$release"'

test.each([
  ['sum(rate(sluice_scores_total[5m]))', `sum(rate(sluice_scores_total{${scope}}[5m]))`],
  ['up{job="sluice"} == 1', `up{job="sluice",${scope}} == 1`],
  [
    'max by (group) (sluice_a{x="a"}) / on () sluice_b',
    `max by (group) (sluice_a{x="a",${scope}}) / on () sluice_b{${scope}}`,
  ],
  ['time() - process_start_time_seconds', `time() - process_start_time_seconds{${scope}}`],
  ['vector(0)', 'vector(0)'],
])('%s', (expr, scoped) => {
  expect(scopedTo(expr)).toBe(scoped)
})

test('a variable depends on those outside it alone', () => {
  expect(scopedTo('up', ['cluster'])).toBe('up{cluster=~"$cluster"}')
  expect(scopedTo('up{job="sluice"}', [])).toBe('up{job="sluice"}')
})
