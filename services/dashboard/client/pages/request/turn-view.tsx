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
import { PlainText } from '../../parts/plain-text.tsx'
import type { Speaker } from './find-speaker.ts'
import { FormattedText } from './formatted-text.tsx'
import type { ScoredEvidence } from './mark-evidence.ts'
import { PictureView } from './picture-view.tsx'
import type { Block } from './read-blocks.ts'
import type { Turn } from './read-conversation.ts'

const sides: Readonly<Record<Speaker, { name: string; icon: typeof IconUser }>> = {
  system: { name: 'System', icon: IconSettings },
  user: { name: 'User', icon: IconUser },
  assistant: { name: 'Model', icon: IconRobot },
  tool: { name: 'Tool', icon: IconTool },
  thinking: { name: 'Thinking', icon: IconBrain },
  error: { name: 'Error', icon: IconAlertTriangle },
}

/** Consecutive words of one speaker, with evidence marked. */
export function TurnView({ turn, evidence }: { turn: Turn; evidence: readonly ScoredEvidence[] }) {
  const { speaker } = turn
  const { name, icon: SideIcon } = sides[speaker]
  return (
    <Paper
      component="li"
      withBorder
      p="sm"
      {...(turn.isAnswer ? { bg: 'var(--mantine-color-default-hover)' } : {})}
      {...(speaker === 'error' ? { style: { borderColor: 'var(--mantine-color-red-filled)' } } : {})}
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
      <Stack gap="xs" {...(speaker === 'thinking' ? { c: 'dimmed', fs: 'italic' } : {})}>
        {turn.blocks.map((block, index) => (
          <BlockView key={index} block={block} evidence={evidence} />
        ))}
      </Stack>
    </Paper>
  )
}

/** A text, a tool call, or the place of what is not text. */
export function BlockView({ block, evidence }: { block: Block; evidence: readonly ScoredEvidence[] }) {
  if (block.kind === 'placeholder') {
    const PlaceholderIcon = block.what === 'Image' ? IconPhoto : IconFile
    return (
      <Group gap="xs" c="dimmed">
        <PlaceholderIcon size={18} stroke={1.5} aria-hidden />
        <Text size="sm">
          {block.what} <PlainText text={block.detail} />
        </Text>
        {block.picture === undefined ? null : <PictureView picture={block.picture} />}
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
      <FormattedText passage={passage} evidence={evidence} isInline={note !== undefined} />
    </div>
  )
}
