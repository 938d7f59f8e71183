import { Card, Group, Mark, Stack, Text } from '@mantine/core'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { cutByMarks } from './read-lines.ts'
import type { Match } from './use-search.ts'

const sides = { request: 'Prompt', response: 'Answer' } as const

/** The calls that were found, newest first, with what was found in them. */
export function SearchResults({ matches }: { matches: readonly Match[] }) {
  return (
    <Stack gap="sm" component="ol" aria-label="Found calls" p={0} m={0} style={{ listStyle: 'none' }}>
      {matches.map((match) => (
        <Card key={match.request.id} component="li" withBorder padding="sm">
          <Found match={match} />
        </Card>
      ))}
    </Stack>
  )
}

function Found({ match: { request, excerpts } }: { match: Match }) {
  return (
    <>
      <Group gap="sm" mb="xs">
        <PageLink to="/requests/$id" params={{ id: request.id }}>
          <TimeText at={request.created_at} />
        </PageLink>
        <VerdictBadge
          label={request.worst_label}
          severity={request.worst_severity}
          verdict={request.verdict}
        />
        {[request.agent_name, request.user_id, request.model].map((text, index) =>
          text === null ? null : (
            <Text key={index} size="sm" c="dimmed">
              <PlainText text={text} />
            </Text>
          ),
        )}
      </Group>
      {excerpts.map(({ part, text, marks }, index) => (
        <Text key={index} size="sm" dir="auto" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          <Text span size="sm" c="dimmed">
            {sides[part]}:{' '}
          </Text>
          {cutByMarks(text, marks).map((piece, place) =>
            piece.isMarked ? (
              <Mark key={place}>
                <PlainText text={piece.text} />
              </Mark>
            ) : (
              <PlainText key={place} text={piece.text} />
            ),
          )}
        </Text>
      ))}
    </>
  )
}
