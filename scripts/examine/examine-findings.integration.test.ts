import { expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { examineFindings } from './examine-findings.ts'
import { useClient } from './testing/use-client.ts'

const openClient = useClient()

test('reports findings that are open for longer than their severity allows', async () => {
  const client = openClient()
  const project = idToUuid(newId('project'))
  await client.query(`insert into projects (id, name, created_at) values ($1, 'p', now())`, [project])
  const add = (severity: string, state: string, hours: number) =>
    client.query(
      `insert into findings (project_id, id, scorer_name, evidence_kind, agent_name, tool_name, severity, state, revision, created_at, opened_at, closed_at)
       values ($1, gen_random_uuid(), 's', '', '', '', $2, $3, 0, now(), now() - make_interval(hours => $4), case $3 when 'resolved' then now() end)`,
      [project, severity, state, hours],
    )
  await add('critical', 'open', 3)
  await add('high', 'acknowledged', 23)
  await add('critical', 'resolved', 50)
  expect(await examineFindings(client)).toMatchObject([{ check: 'findings', state: 'ok' }])
  await add('critical', 'open', 5)
  await add('high', 'acknowledged', 25)
  expect(await examineFindings(client)).toMatchObject([
    { state: 'warning', what: 'overdue: 1 critical in 1 projects, 1 high in 1 projects' },
  ])
})
