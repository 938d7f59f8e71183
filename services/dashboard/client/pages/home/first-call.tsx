import { Button, Code, CopyButton, Group, Loader, Paper, Stack, Tabs, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { rowsIn, type Item } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useProject } from '../../app/project.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Failure } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { snippetNames, snippetOf } from './snippets.ts'

type Call = Item<'GET /api/requests'>

const pollMs = 3_000
/** Stands in examples for the key that was not made here. */
const placeholder = 'YOUR_KEY'

interface FirstCallState {
  /** The project had no call when it was opened. */
  isShown: boolean
  /** Undefined: none yet. */
  call: Call | undefined
  leave: () => void
}

/** Follows a project without calls until its first arrives, and then shows that until it is left. */
export function useFirstCall(projectId: string, hasNone: boolean): FirstCallState {
  const [wasEmpty, setWasEmpty] = useState(false)
  const { data } = useApi(
    'GET /api/requests',
    { query: { project_id: projectId, page_size: '1' } },
    { pollMs, enabled: hasNone || wasEmpty },
  )
  const [call] = data === undefined ? [] : rowsIn<'GET /api/requests'>(data)
  const isEmpty = hasNone && data !== undefined && call === undefined
  if (isEmpty && !wasEmpty) setWasEmpty(true)
  return { isShown: wasEmpty || isEmpty, call, leave: () => setWasEmpty(false) }
}

/** How to send the first call, and the call once it has arrived. */
export function FirstCall({ call, leave }: FirstCallState) {
  return (
    <Paper withBorder p="lg" component="section" aria-label="First call">
      <Stack>
        <Title order={2}>Send the first call</Title>
        <Steps />
        <div aria-live="polite">
          {call === undefined ? <Waiting /> : <Arrived call={call} leave={leave} />}
        </div>
      </Stack>
    </Paper>
  )
}

function Steps() {
  const me = useMe().data
  const project = useProject()
  const [key, setKey] = useState<string>()
  const isAdmin = mayVisit(me?.role ?? 'viewer', { role: 'admin' })
  return (
    <>
      {isAdmin ? (
        <FirstKey projectId={project.id} secret={key} onMade={setKey} />
      ) : (
        <Text size="sm">An administrator can give you an API key of this project.</Text>
      )}
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List aria-label="Client">
          {snippetNames.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippetNames.map((name) => (
          <Tabs.Panel key={name} value={name} pt="xs">
            <Snippet text={snippetOf(name, me?.gateway_url ?? '', key ?? placeholder)} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <Text size="sm" c="dimmed">
        The gateway takes the keys of projects with GATEWAY_AUTH=project_keys; otherwise send its own
        PROXY_API_KEY, which records into the gateway’s project. SDKs and OpenTelemetry take the key of a
        project at the API.
      </Text>
    </>
  )
}

interface FirstKeyProps {
  projectId: string
  secret: string | undefined
  onMade: (secret: string) => void
}

function FirstKey({ projectId, secret, onMade }: FirstKeyProps) {
  const create = useApiChange('POST /api/projects/{id}/keys', ['GET /api/projects/{id}/keys'])
  if (secret !== undefined) return <ShownOnce title="The key of your first agent" secret={secret} />
  const make = () =>
    create.mutate(
      { params: { id: projectId }, body: { name: 'first-agent', scope: 'ingest' } },
      { onSuccess: ({ key }) => onMade(key) },
    )
  return (
    <>
      {create.error === null ? null : <Failure error={create.error} />}
      <Group>
        <Button onClick={make} loading={create.isPending}>
          Create an API key
        </Button>
        <Text size="sm" c="dimmed">
          It only records calls. It is shown once.
        </Text>
      </Group>
    </>
  )
}

function Snippet({ text }: { text: string }) {
  return (
    <Stack gap="xs" align="flex-start">
      <Code block w="100%" tabIndex={0}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-sm" variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy example'}
          </Button>
        )}
      </CopyButton>
    </Stack>
  )
}

function Waiting() {
  return (
    <Group gap="sm">
      <Loader size="xs" type="dots" aria-hidden />
      <Text>Waiting for the first call…</Text>
    </Group>
  )
}

function Arrived({ call, leave }: { call: Call; leave: () => void }) {
  const { id, model, agent_name: agent, created_at: at } = call
  return (
    <Group justify="space-between">
      <Group gap="sm">
        <VerdictBadge label={call.worst_label} severity={call.worst_severity} verdict={call.verdict} />
        <Text>
          The first call has arrived:{' '}
          <PageLink to="/requests/$id" params={{ id }}>
            <PlainText text={agent ?? model} />
          </PageLink>
          , <TimeText at={at} isAgo />
        </Text>
      </Group>
      <Button variant="default" onClick={leave}>
        Go to home
      </Button>
    </Group>
  )
}
