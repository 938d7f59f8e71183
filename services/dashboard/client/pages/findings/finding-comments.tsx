import { Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { useApiChange } from '../../api/use-api.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import { Failure } from '../../parts/page-states.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import type { FindingDetail } from './finding-texts.ts'

/** What people said, newest first, and a field for more. */
export function FindingComments({ finding, mayAct }: { finding: FindingDetail; mayAct: boolean }) {
  const { comments } = finding
  return (
    <Stack gap="sm">
      {mayAct ? <NewComment finding={finding} /> : null}
      {comments.length === 0 ? <Text size="sm">Nobody commented yet.</Text> : null}
      {comments.map(({ id, author, text, created_at: at }) => (
        <Paper key={id} withBorder p="xs">
          <Text size="xs" c="dimmed">
            <PlainText text={author} />, <TimeText at={at} />
          </Text>
          <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {text === null ? 'Analysts can read it.' : <PlainText text={text} />}
          </Text>
        </Paper>
      ))}
    </Stack>
  )
}

function NewComment({ finding: { id, project_id } }: { finding: FindingDetail }) {
  const [text = '', setText] = usePersisted<string>(`finding-comment.${id}`)
  const add = useApiChange('POST /api/findings/{id}/comments', ['GET /api/findings/{id}'])
  const send = () =>
    add.mutate(
      { params: { id }, query: { project_id }, body: { text: text.trim() } },
      { onSuccess: () => setText(undefined) },
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Stack gap="xs">
        <Textarea
          label="Comment"
          description="Deleted with the last call of the finding."
          autosize
          minRows={2}
          maxLength={4_000}
          value={text}
          onChange={({ currentTarget: { value } }) => setText(value)}
        />
        {add.error === null ? null : <Failure error={add.error} />}
        <Group justify="flex-end">
          <Button type="submit" size="xs" disabled={text.trim() === ''} loading={add.isPending}>
            Comment
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
