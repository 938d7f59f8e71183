import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { dashboardFiles, dashboards } from '#infra/grafana/all-dashboards.ts'
import { findUnknown } from '../support/promql.ts'

const folder = join(import.meta.dirname, '..', '..', 'infra', 'grafana', 'dashboards')
const panels = dashboards.flatMap(({ name, rows }) =>
  rows.flatMap((row) => row.panels.map((panel) => ({ dashboard: name, ...panel }))),
)

test('the dashboards that Grafana reads are those of infra/grafana', () => {
  const files = dashboardFiles()
  if (process.env['UPDATE_DOCS'] === '1')
    for (const { name, text } of files) writeFileSync(join(folder, name), text)
  expect(readdirSync(folder).sort()).toEqual(files.map(({ name }) => name).sort())
  for (const { name, text } of files)
    expect({ name, text: readFileSync(join(folder, name), 'utf8') }).toEqual({ name, text })
})

test('panels name only metrics and labels that services have', () => {
  for (const { dashboard, title, ask } of panels) {
    const unknown = ask.flatMap((question) => ('expr' in question ? findUnknown(question.expr) : []))
    expect({ dashboard, title, unknown }).toEqual({ dashboard, title, unknown: [] })
  }
})
