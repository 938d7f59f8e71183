import { Button, Group, Stack, Text } from '@mantine/core'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { describeChange, type FindingDetail } from './finding-texts.ts'
import type { FindingActions } from './use-finding-actions.tsx'

interface FindingHistoryProps {
  finding: FindingDetail
  /** Null: the person only reads. */
  actions: FindingActions | null
}

/** What became of the finding, newest first. The last change by a person can be undone. */
export function FindingHistory({ finding, actions }: FindingHistoryProps) {
  const { history, project_id: projectId } = finding
  if (history.length === 0) return <Text size="sm">Nothing was changed yet.</Text>
  return (
    <Stack gap="xs">
      {history.map((change, index) => (
        <Group
          key={`${change.change_id} ${change.at}`}
          justify="space-between"
          wrap="nowrap"
          align="flex-start"
        >
          <div>
            <Text size="sm">
              <PlainText text={describeChange(change)} />
            </Text>
            <Text size="xs" c="dimmed">
              {change.actor_kind === null ? 'another call' : <PlainText text={change.actor_name ?? ''} />},{' '}
              <TimeText at={change.at} />
            </Text>
          </div>
          {index === 0 && actions !== null && change.actor_kind !== null ? (
            <Button
              size="compact-xs"
              variant="default"
              disabled={actions.isPending}
              onClick={() => void actions.undo([{ projectId, changeId: change.change_id }])}
            >
              Undo
            </Button>
          ) : null}
        </Group>
      ))}
    </Stack>
  )
}
