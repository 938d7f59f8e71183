import { test } from '@jest/globals'
import { definitionOf, processNames } from '#schemas/services.ts'
import { expectFile } from '../../tests/support/documented-page.ts'
import { findHelm, renderChart } from './render-chart.ts'

// `UPDATE_DOCS=1` writes both files; rendered.yaml needs helm.
const helm = findHelm(process.env['PATH']) ?? ''
const withHelm = helm === '' ? test.skip : test

test('the templates have the rows of schemas/services.ts', () => {
  const rows = processNames.map((name) => {
    const { port, operationsPort, callsApi, callsOutside, database, ...row } = definitionOf(name)
    const groups = row.kafka?.groups ?? {}
    return {
      name,
      ports: { ops: operationsPort, ...(port !== undefined && { http: port }) },
      database: database !== undefined,
      kafka: row.kafka !== undefined && row.kafkaOnlyWith === undefined,
      callsApi: callsApi === true,
      callsOutside: callsOutside === true,
      nodeOptions: row.nodeOptions ?? '',
      triggers: (row.scaledBy ?? []).flatMap((group) =>
        (groups[group] ?? []).map((topic) => [group, topic.name]),
      ),
    }
  })
  const lines = rows.map((row) => `  ${JSON.stringify(row)}`)
  expectFile('infra/helm/files/services.json', `[\n${lines.join(',\n')}\n]\n`)
})

withHelm('rendered.yaml is what Helm makes of the chart', async () => {
  expectFile('infra/helm/rendered.yaml', await renderChart(helm))
})
