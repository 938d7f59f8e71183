import { Group, Paper, Stack, Text } from '@mantine/core'
import { IconFile } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { findElsewhere } from './find-elsewhere.ts'
import { FormattingContext } from './formatted-text.tsx'
import type { ScoredEvidence } from './mark-evidence.ts'
import type { Passage } from './read-blocks.ts'
import { readConversation } from './read-conversation.ts'
import type { RequestDetail } from './request-detail.ts'
import { TextForm } from './text-form.tsx'
import { BlockView, TurnView } from './turn-view.tsx'

interface ConversationProps {
  request: RequestDetail
  evidence: readonly ScoredEvidence[]
}

/** The call as a conversation, with evidence marked. */
export function Conversation({ request, evidence }: ConversationProps) {
  const turns = useMemo(
    () => readConversation(request.request_body, request.response_body, request.status_code),
    [request.request_body, request.response_body, request.status_code],
  )
  const [form, setForm] = useState('formatted')
  const elsewhere = useMemo(() => findElsewhere(request, turns, evidence), [request, turns, evidence])
  return (
    <FormattingContext value={form === 'formatted'}>
      <TextForm form={form} setForm={setForm} />
      <Stack gap="sm" component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
        {turns.map((turn, index) => (
          <TurnView key={index} turn={turn} evidence={evidence} />
        ))}
        {elsewhere.length === 0 ? null : <ElsewhereView passages={elsewhere} evidence={evidence} />}
      </Stack>
    </FormattingContext>
  )
}

/** Evidence in texts beside the conversation. */
function ElsewhereView({
  passages,
  evidence,
}: {
  passages: readonly Passage[]
  evidence: readonly ScoredEvidence[]
}) {
  return (
    <Paper component="li" withBorder p="sm">
      <Group gap="xs" mb={6}>
        <IconFile size={16} stroke={1.5} aria-hidden />
        <Text size="sm" fw={600}>
          Elsewhere in the call
        </Text>
      </Group>
      <Stack gap="xs">
        {passages.map((passage) => {
          const note = `${passage.part}${passage.pointer}`
          return <BlockView key={note} block={{ kind: 'text', passage, note }} evidence={evidence} />
        })}
      </Stack>
    </Paper>
  )
}
