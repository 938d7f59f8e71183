import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { rowsIn, type Answer } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageNumbers } from '../../parts/page-numbers.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { CreateKey } from './create-key.tsx'
import { KeyTable } from './key-table.tsx'

type CreatedKey = Answer<'POST /api/projects/{id}/keys'>
const pageSize = 50

/** A project's API keys: create (shown once), change, revoke, what they may do and have spent, last use. */
export function KeysPage() {
  const project = useProject()
  const { page = '1' } = useTexts()
  const keys = useApi(
    'GET /api/projects/{id}/keys',
    { params: { id: project.id }, query: { page, page_size: String(pageSize) } },
    { pollMs: 30_000, keepsPrevious: true },
  )
  const [isCreating, setIsCreating] = usePersisted<true>(`key.${project.id}`)
  const [created, setCreated] = useState<CreatedKey>()
  return (
    <>
      <PageHead title="API keys">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
          Create key
        </Button>
      </PageHead>
      {isCreating ? (
        <CreateKey projectId={project.id} onClose={() => setIsCreating(undefined)} onCreated={setCreated} />
      ) : null}
      {created === undefined ? null : <ShownOnce title={`Key “${created.name}”`} secret={created.key} />}
      <Loaded
        query={keys}
        empty={{
          when: ({ total }) => total === 0,
          show: (
            <Nothing title="No key yet">
              Applications and gateways authenticate with a key, which identifies the project.
            </Nothing>
          ),
        }}
      >
        {(answer) => (
          <>
            <KeyTable projectId={project.id} keys={rowsIn<'GET /api/projects/{id}/keys'>(answer)} />
            <PageNumbers total={answer.total} pageSize={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}
