import { Badge, Box, Code, Group, Paper, Stack, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBrain,
  IconFile,
  IconPhoto,
  IconRobot,
  IconSettings,
  IconTool,
  IconUser,
} from '@tabler/icons-react'
import { useMemo } from 'react'
import { PlainText } from '../../parts/plain-text.tsx'
import { findElsewhere } from './find-elsewhere.ts'
import type { Speaker } from './find-speaker.ts'
import { isAt, type ScoredEvidence } from './mark-evidence.ts'
import { MarkedText } from './marked-text.tsx'
import type { Block, Passage } from './read-blocks.ts'
import { readConversation, type Turn } from './read-conversation.ts'
import type { RequestDetail } from './request-detail.ts'

const sides: Readonly<Record<Speaker, { name: string; icon: typeof IconUser }>> = {
  system: { name: 'System', icon: IconSettings },
  user: { name: 'User', icon: IconUser },
  assistant: { name: 'Model', icon: IconRobot },
  tool: { name: 'Tool', icon: IconTool },
  thinking: { name: 'Thinking', icon: IconBrain },
  error: { name: 'Error', icon: IconAlertTriangle },
}

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
  const elsewhere = useMemo(() => findElsewhere(request, turns, evidence), [request, turns, evidence])
  return (
    <Stack gap="sm" component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
      {turns.map((turn, index) => (
        <TurnView key={index} turn={turn} evidence={evidence} />
      ))}
      {elsewhere.length === 0 ? null : <ElsewhereView passages={elsewhere} evidence={evidence} />}
    </Stack>
  )
}

function TurnView({ turn, evidence }: { turn: Turn; evidence: readonly ScoredEvidence[] }) {
  const { speaker } = turn
  const { name, icon: SideIcon } = sides[speaker]
  return (
    <Paper
      component="li"
      withBorder
      p="sm"
      {...(turn.isAnswer ? { bg: 'var(--mantine-color-default-hover)' } : {})}
    >
      <Group gap="xs" mb={6}>
        <SideIcon size={16} stroke={1.5} aria-hidden />
        <Text size="sm" fw={600}>
          {name}
        </Text>
        {turn.isAnswer && (speaker === 'assistant' || speaker === 'tool') ? (
          <Badge variant="default" size="sm">
            Answer
          </Badge>
        ) : null}
      </Group>
      <Stack gap="xs">
        {turn.blocks.map((block, index) => (
          <BlockView key={index} block={block} evidence={evidence} />
        ))}
      </Stack>
    </Paper>
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

function BlockView({ block, evidence }: { block: Block; evidence: readonly ScoredEvidence[] }) {
  if (block.kind === 'placeholder') {
    const PlaceholderIcon = block.what === 'Image' ? IconPhoto : IconFile
    return (
      <Group gap="xs" c="dimmed">
        <PlaceholderIcon size={18} stroke={1.5} aria-hidden />
        <Text size="sm">
          {block.what} <PlainText text={block.detail} />
        </Text>
      </Group>
    )
  }
  if (block.kind === 'tool_call') {
    return (
      <Box pl="sm" style={{ borderLeft: '3px solid var(--mantine-primary-color-filled)' }}>
        <Text size="sm" fw={600} mb={4}>
          calls{' '}
          <Code>
            <PlainText text={block.name} />
          </Code>
        </Text>
        <Stack gap={2}>
          {block.given.map((given, index) => (
            <BlockView key={index} block={given} evidence={evidence} />
          ))}
        </Stack>
      </Box>
    )
  }
  const { passage, note } = block
  return (
    <div>
      {note === undefined ? null : (
        <Text span size="xs" c="dimmed" ff="monospace">
          <PlainText text={note} />{' '}
        </Text>
      )}
      <MarkedText
        text={passage.text}
        evidence={evidence.filter((each) => isAt(each, passage))}
        isInline={note !== undefined}
      />
    </div>
  )
}
