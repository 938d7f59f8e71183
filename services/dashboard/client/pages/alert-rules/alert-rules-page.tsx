import { Badge, Button, Group, Stack, Switch, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { rowsIn } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { useTexts } from '../../app/address.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useProject } from '../../app/project.ts'
import { toVisibleText } from '../../formats/visible-text.ts'
import { confirmAction, notifyResult } from '../../parts/confirm-action.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageNumbers } from '../../parts/page-numbers.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { RuleForm } from './rule-form.tsx'
import { describeRule, formatValue, type AlertRule } from './rule-texts.ts'

const pageSize = 50

/** Thresholds on rates and counts of calls, and what they say now. */
export function AlertRulesPage() {
  const { id: project_id } = useProject()
  const { page = '1' } = useTexts()
  const mayAct = mayVisit(useMe().data?.role ?? 'viewer', { role: 'analyst' })
  const rules = useApi(
    'GET /api/alert-rules',
    { query: { project_id, page, page_size: String(pageSize) } },
    { pollMs: 30_000, keepsPrevious: true },
  )
  // 'new', or the one being edited.
  const [edited, setEdited] = usePersisted<AlertRule | 'new'>(`alert-rule.${project_id}`)
  return (
    <>
      <PageHead title="Alert rules">
        {mayAct ? (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
            New rule
          </Button>
        ) : null}
      </PageHead>
      {edited === undefined || !mayAct ? null : (
        <RuleForm
          projectId={project_id}
          rule={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      <Loaded
        query={rules}
        empty={{
          when: ({ total }) => total === 0,
          show: (
            <Nothing title="No alert rules yet">
              A rule watches a rate or a count, and tells webhooks and destinations when it passes a
              threshold.
            </Nothing>
          ),
        }}
      >
        {(answer) => (
          <>
            <RuleTable
              rules={rowsIn<'GET /api/alert-rules'>(answer)}
              onEdit={mayAct ? setEdited : undefined}
            />
            <PageNumbers total={answer.total} pageSize={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}

interface RuleTableProps {
  rules: readonly AlertRule[]
  /** Absent: the person only reads. */
  onEdit: ((rule: AlertRule) => void) | undefined
}

function RuleTable({ rules, onEdit }: RuleTableProps) {
  const columns: Column<AlertRule>[] = [
    {
      title: 'Enabled',
      cell: (rule) => (onEdit === undefined ? rule.enabled ? 'Yes' : 'No' : <EnabledSwitch rule={rule} />),
    },
    {
      title: 'Rule',
      cell: (rule) => (
        <Stack gap={2}>
          <PlainText text={rule.name} />
          <Text size="xs" c="dimmed">
            <PlainText text={describeRule(rule)} />
          </Text>
        </Stack>
      ),
    },
    { title: 'State', cell: (rule) => <RuleState rule={rule} /> },
    { title: 'Value', isNumber: true, cell: ({ state, metric }) => formatValue(state.value, metric) },
    { title: 'Evaluated until', cell: ({ state }) => <TimeText at={state.evaluated_until} isAgo /> },
    ...(onEdit === undefined
      ? []
      : [{ title: 'Actions', cell: (rule: AlertRule) => <RuleButtons rule={rule} onEdit={onEdit} /> }]),
  ]
  return (
    <RowsTable label="Alert rules" columns={columns} rows={rules} keyOf={({ id }) => id} minWidth={780} />
  )
}

const states = {
  ok: { label: 'OK', color: 'green' },
  warning: { label: 'Warning', color: 'yellow' },
  alert: { label: 'Alert', color: 'red' },
  no_data: { label: 'No data', color: 'gray' },
  late: { label: 'Late', color: 'orange' },
} as const

function RuleState({ rule: { enabled, state } }: { rule: AlertRule }) {
  if (!enabled) return <Badge variant="default">Disabled</Badge>
  if (state.evaluated_until === null) return <Badge variant="default">Not evaluated yet</Badge>
  const { label, color } = states[state.status]
  return (
    <>
      <Badge color={color} variant="light">
        {label}
      </Badge>
      <Text size="xs" c="dimmed">
        since <TimeText at={state.since} />
      </Text>
    </>
  )
}

const listed = ['GET /api/alert-rules'] as const

function EnabledSwitch({ rule: { id, project_id, name, enabled } }: { rule: AlertRule }) {
  const change = useApiChange('PATCH /api/alert-rules/{id}', listed)
  const toggle = (next: boolean) =>
    notifyResult(
      change.mutateAsync({ params: { id }, query: { project_id }, body: { enabled: next } }),
      next ? 'The rule is enabled.' : 'The rule is disabled.',
    )
  return (
    <Switch
      checked={enabled}
      disabled={change.isPending}
      aria-label={`Enable ${toVisibleText(name)}`}
      onChange={(event) => void toggle(event.currentTarget.checked)}
    />
  )
}

function RuleButtons({ rule, onEdit }: { rule: AlertRule; onEdit: (rule: AlertRule) => void }) {
  const remove = useApiChange('DELETE /api/alert-rules/{id}', listed)
  const { id, project_id } = rule
  const name = toVisibleText(rule.name)
  const askRemove = () =>
    confirmAction({
      title: 'Delete this rule?',
      consequence: `${name} is evaluated no more. If it fires now, nobody is told of an end.`,
      confirm: 'Delete',
      action: () => remove.mutateAsync({ params: { id }, query: { project_id } }),
      done: 'The rule is deleted.',
    })
  return (
    <Group gap={4} wrap="nowrap">
      <Button size="compact-sm" variant="default" aria-label={`Edit ${name}`} onClick={() => onEdit(rule)}>
        Edit
      </Button>
      <Button
        size="compact-sm"
        variant="subtle"
        color="red"
        aria-label={`Delete ${name}`}
        onClick={askRemove}
      >
        Delete
      </Button>
    </Group>
  )
}
