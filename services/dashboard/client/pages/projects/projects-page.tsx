import { Badge, Button, Group, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { rowsIn, type Item } from '../../api/call-api.ts'
import { meKey } from '../../api/session.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { useTexts } from '../../app/address.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { PageNumbers } from '../../parts/page-numbers.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { usePersisted, usePersistedValues } from '../../parts/use-draft.ts'

type Project = Item<'GET /api/projects'>
const tiers = ['free', 'pro', 'team', 'enterprise'] as const
const pageSize = 50

/** All projects; each is a tenant with its own keys, quota and data. */
export function ProjectsPage() {
  const [isCreating, setIsCreating] = usePersisted<true>('project')
  const { page = '1' } = useTexts()
  const projects = useApi(
    'GET /api/projects',
    { query: { page, page_size: String(pageSize) } },
    { keepsPrevious: true },
  )
  return (
    <>
      <PageHead title="Projects">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
          Create project
        </Button>
      </PageHead>
      {isCreating ? <CreateProject onClose={() => setIsCreating(undefined)} /> : null}
      <Loaded
        query={projects}
        empty={{ when: ({ total }) => total === 0, show: <Nothing title="No project yet" /> }}
      >
        {(answer) => (
          <>
            <ProjectTable projects={rowsIn<'GET /api/projects'>(answer)} />
            <PageNumbers total={answer.total} pageSize={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}

function ProjectTable({ projects }: { projects: readonly Project[] }) {
  const columns: Column<Project>[] = [
    {
      title: 'Project',
      cell: ({ id, name }) => (
        <PageLink to="/settings/project" search={{ project: id }}>
          <PlainText text={name} />
        </PageLink>
      ),
    },
    { title: 'Tier', cell: ({ tier }) => tier },
    {
      title: 'Content',
      cell: (project) =>
        project.zero_content_retention ? <Badge color="yellow.6">Not stored</Badge> : 'Stored',
    },
    { title: 'Judge', cell: ({ judge_mode: mode }) => mode },
    { title: 'Created', cell: ({ created_at: at }) => <TimeText at={at} /> },
    {
      title: 'Links',
      cell: ({ id }) => (
        <Group gap="sm" wrap="nowrap">
          <PageLink to="/" search={{ project: id }}>
            Home
          </PageLink>
          <PageLink to="/settings/keys" search={{ project: id }}>
            Keys
          </PageLink>
          <PageLink to="/settings/billing" search={{ project: id }}>
            Billing
          </PageLink>
        </Group>
      ),
    },
  ]
  return (
    <RowsTable label="Projects" columns={columns} rows={projects} keyOf={({ id }) => id} minWidth={720} />
  )
}

function CreateProject({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const create = useApiChange('POST /api/projects', ['GET /api/projects'])
  const form = useForm({
    ...usePersistedValues<{ name: string; tier: (typeof tiers)[number] | null }>('project', {
      name: '',
      tier: null,
    }),
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name' : null) },
  })
  const submit = form.onSubmit(({ name, tier }) =>
    create.mutate(
      { body: { name, ...(tier === null ? {} : { tier }) } },
      {
        onSuccess: () => {
          // The switcher lists what this person may see.
          void client.invalidateQueries({ queryKey: meKey })
          onClose()
        },
      },
    ),
  )
  return (
    <FormModal
      title="Create a project"
      onClose={onClose}
      onSubmit={submit}
      error={create.error}
      isPending={create.isPending}
      submit="Create"
    >
      <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
      <Select
        label="Tier"
        placeholder="The installation's"
        clearable
        data={[...tiers]}
        {...form.getInputProps('tier')}
      />
    </FormModal>
  )
}
