import { Badge, Button, Group, NumberInput, Stack, Switch, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { rowsIn } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useProject } from '../../app/project.ts'
import { confirmAction } from '../../parts/confirm-action.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Failure, Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { EditScorer, ScorerForm } from './scorer-form.tsx'
import { blockedTexts, describeVersions, type ListedScorer } from './scorer-texts.ts'
import { useScorerFacts } from './use-scorer-facts.ts'

/** What scores the project's calls: on or off, threshold, and the scorers that it makes itself. */
export function ScorersPage() {
  const project = useProject()
  const mayChange = mayVisit(useMe().data?.role ?? 'viewer', { role: 'analyst' })
  const scorers = useApi('GET /api/scorers', { query: { project_id: project.id, page_size: '200' } })
  const [edited, setEdited] = usePersisted<string>(`scorer.${project.id}`)
  const close = () => setEdited(undefined)
  return (
    <>
      <PageHead title="Scorers">
        {mayChange ? (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
            Add scorer
          </Button>
        ) : null}
      </PageHead>
      {edited === 'new' ? <ScorerForm projectId={project.id} scorer={undefined} onClose={close} /> : null}
      {edited === undefined || edited === 'new' ? null : (
        <EditScorer projectId={project.id} id={edited} onClose={close} />
      )}
      <Loaded query={scorers}>
        {(answer) => (
          <ScorerTable
            projectId={project.id}
            scorers={rowsIn<'GET /api/scorers'>(answer)}
            mayChange={mayChange}
            onEdit={setEdited}
          />
        )}
      </Loaded>
    </>
  )
}

interface TableProps {
  projectId: string
  scorers: readonly ListedScorer[]
  mayChange: boolean
  onEdit: (id: string) => void
}

function ScorerTable({ projectId, scorers, mayChange, onEdit }: TableProps) {
  const set = useApiChange('PATCH /api/scorers/{name}/settings', ['GET /api/scorers'])
  const change = (name: string, body: { enabled?: boolean; fail_at?: number | null }) =>
    set.mutate({ params: { name }, query: { project_id: projectId }, body })
  const facts = useScorerFacts(projectId)
  const columns: Column<ListedScorer>[] = [
    { title: 'Name', cell: (scorer) => <NameCell scorer={scorer} /> },
    {
      title: 'Runs on',
      cell: (scorer) => <RunsOnCell scorer={scorer} share={facts.shareOf(scorer.name)} />,
    },
    { title: 'State', cell: (scorer) => <StateCell scorer={scorer} /> },
    {
      title: 'On',
      cell: ({ name, enabled }) => (
        <Switch
          checked={enabled}
          disabled={!mayChange}
          aria-label={`${name} is on`}
          onChange={({ currentTarget }) => change(name, { enabled: currentTarget.checked })}
        />
      ),
    },
    {
      title: 'Unsafe from',
      cell: (scorer) => (
        <ThresholdCell
          scorer={scorer}
          mayChange={mayChange}
          onSet={(fail_at) => change(scorer.name, { fail_at })}
        />
      ),
    },
    { title: 'Precision', isNumber: true, cell: ({ name }) => facts.precisionOf(name) },
    { title: 'Judge, this period', isNumber: true, cell: ({ name }) => facts.spentOn(name) },
    {
      title: 'Action',
      cell: (scorer) =>
        scorer.id === null || !mayChange ? null : (
          <Actions projectId={projectId} id={scorer.id} name={scorer.name} onEdit={onEdit} />
        ),
    },
  ]
  return (
    <Stack>
      {set.error === null ? null : <Failure error={set.error} />}
      <RowsTable
        label="Scorers"
        columns={columns}
        rows={scorers}
        keyOf={({ id, name }) => id ?? name}
        minWidth={980}
      />
    </Stack>
  )
}

interface ThresholdCellProps {
  scorer: ListedScorer
  mayChange: boolean
  onSet: (failAt: number) => void
}

/** Empty where a scorer has no threshold. */
function ThresholdCell({ scorer, mayChange, onSet }: ThresholdCellProps) {
  const { name, fail_at: failAt, default_fail_at: usual } = scorer
  if (usual === null) return null
  return (
    <NumberInput
      w={80}
      min={2}
      max={5}
      step={0.5}
      // A number typed is sent when the field is left.
      key={failAt}
      defaultValue={failAt ?? usual}
      disabled={!mayChange}
      aria-label={`${name} is unsafe from`}
      onBlur={({ currentTarget }) => {
        const value = Number(currentTarget.value)
        if (currentTarget.value !== '' && value !== failAt) onSet(value)
      }}
    />
  )
}

function NameCell({ scorer: { name, description } }: { scorer: ListedScorer }) {
  return (
    <>
      <PlainText text={name} />
      {description === null || description === '' ? null : (
        <Text size="xs" c="dimmed">
          <PlainText text={description} />
        </Text>
      )}
    </>
  )
}

/** The calls, and below the kind and versions. */
function RunsOnCell({ scorer, share }: { scorer: ListedScorer; share: string }) {
  return (
    <>
      {share}
      <Text size="xs" c="dimmed">
        <PlainText text={describeVersions(scorer)} />
      </Text>
    </>
  )
}

function StateCell({ scorer }: { scorer: ListedScorer }) {
  const { blocked_by: blocked, rescore_suggested: rescore } = scorer
  return (
    <Stack gap={2}>
      <Badge variant="light" color={blocked === null ? 'green' : 'gray'}>
        {blocked === null ? 'Runs' : blockedTexts[blocked]}
      </Badge>
      {rescore === null ? null : (
        <Text size="xs">
          Recent scores are by <PlainText text={rescore.from_version} />: an administrator can score them
          again.
        </Text>
      )}
    </Stack>
  )
}

interface ActionsProps {
  projectId: string
  id: string
  name: string
  onEdit: (id: string) => void
}

function Actions({ projectId, id, name, onEdit }: ActionsProps) {
  const remove = useApiChange('DELETE /api/scorers/{id}', ['GET /api/scorers'])
  const ask = () =>
    confirmAction({
      title: `Delete “${name}”?`,
      consequence: 'New calls get no score of it. The scores that it gave stay.',
      confirm: 'Delete',
      action: () => remove.mutateAsync({ params: { id }, query: { project_id: projectId } }),
      done: 'The scorer is deleted.',
    })
  return (
    <Group gap={4} wrap="nowrap">
      <Button size="compact-sm" variant="subtle" aria-label={`Edit ${name}`} onClick={() => onEdit(id)}>
        Edit
      </Button>
      <Button size="compact-sm" variant="subtle" color="red" aria-label={`Delete ${name}`} onClick={ask}>
        Delete
      </Button>
    </Group>
  )
}
