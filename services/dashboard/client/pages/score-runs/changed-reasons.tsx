import { Modal, SimpleGrid, Stack, Text } from '@mantine/core'
import { rowsIn } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { absent } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { Conversation } from '../request/conversation.tsx'
import type { ScoredEvidence } from '../request/mark-evidence.ts'
import { inOrder, type RunDiff, type ScoreRun } from './run-texts.ts'

/** The two runs may rest on different evidence. */
const none: readonly ScoredEvidence[] = []
type Example = RunDiff['examples'][number]

/** Both verdicts on one call with their reasons. */
export function ChangedReasons({
  example,
  run,
  onClose,
}: {
  example: Example
  run: ScoreRun
  onClose: () => void
}) {
  const { project_id: project, request_id: id, scorer_name: scorer } = example
  const [earlier, later] = inOrder(run, { before: undefined, after: run.id })
  return (
    <Modal opened onClose={onClose} title={<PlainText text={`Why ${scorer} changed`} />} size="xl">
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Side title="Earlier" example={example} runId={earlier} />
          <Side title="Later" example={example} runId={later} />
        </SimpleGrid>
        <Text fw={600}>
          What was said in the{' '}
          <PageLink to="/requests/$id" params={{ id }} search={{ project }}>
            call
          </PageLink>
        </Text>
        <Said projectId={project} requestId={id} />
      </Stack>
    </Modal>
  )
}

/** Read and audited when somebody asks why. */
function Said({ projectId: project_id, requestId: id }: { projectId: string; requestId: string }) {
  const call = useApi('GET /api/requests/{id}', { params: { id }, query: { project_id } })
  return (
    <Loaded
      query={call}
      empty={{
        when: ({ request_body, response_body }) => request_body === null && response_body === null,
        show: <Text size="sm">Nothing of it is kept.</Text>,
      }}
    >
      {(request) => <Conversation request={request} evidence={none} />}
    </Loaded>
  )
}

/** `runId` undefined: the live run. */
function Side({ title, example, runId }: { title: string; example: Example; runId: string | undefined }) {
  const { project_id, request_id, scorer_name } = example
  const scores = useApi('GET /api/safety-scores', {
    query: { project_id, request_id, scorer_name, run_id: runId, page_size: '1' },
  })
  return (
    <section aria-label={title}>
      <Text fw={600} mb="xs">
        {title}
      </Text>
      <Loaded
        query={scores}
        empty={{
          when: (answer) => rowsIn<'GET /api/safety-scores'>(answer).length === 0,
          show: <Text size="sm">No score.</Text>,
        }}
      >
        {(answer) =>
          rowsIn<'GET /api/safety-scores'>(answer).map((score) => (
            <Stack key={score.id} gap="xs" align="flex-start">
              <VerdictBadge label={score.score_label} severity={score.severity} />
              <Text size="sm">
                <PlainText text={score.rationale ?? score.reason ?? absent} />
              </Text>
              <Text size="xs" c="dimmed">
                <PlainText text={`${score.method}, ${score.scorer_version}`} />
              </Text>
            </Stack>
          ))
        }
      </Loaded>
    </section>
  )
}
