import { Alert, Button, Center, EmptyState, Group, List, Loader, Stack, Text } from '@mantine/core'
import { IconLock, IconMoodEmpty } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ApiError } from '../api/call-api.ts'
import { PageHead } from './page-head.tsx'
import { PageLink } from './page-link.tsx'

/** A loading indicator. */
export function Waiting() {
  return (
    <Center mih={160} role="status" aria-label="Loading">
      <Loader size="sm" />
    </Center>
  )
}

/** An empty state with its explanation. */
export function Nothing({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <EmptyState
      icon={<IconMoodEmpty size={32} stroke={1.5} aria-hidden />}
      title={title}
      description={children}
      py="xl"
    />
  )
}

export function NoPermission({ children }: { children: string }) {
  return (
    <EmptyState
      icon={<IconLock size={32} stroke={1.5} aria-hidden />}
      title="This is not open to you"
      description={children}
      py="xl"
    />
  )
}

export function NoProject() {
  return <Nothing title="No project">An administrator can create one, or give you one that there is.</Nothing>
}

export function NotFound() {
  return (
    <>
      <PageHead title="There is no such page" />
      <PageLink to="/">Overview</PageLink>
    </>
  )
}

const whyRefused: Readonly<Record<string, string>> = {
  ROLE_FORBIDS: 'It needs another role than yours. An administrator can give you that.',
  OTHER_PROJECT: 'It is for people who see its project. An administrator can give it to you.',
  NO_PROJECT: 'You see no project yet. An administrator can give you one.',
}

/** The API's error with all field errors, and a retry button. */
export function Failure({ error, retry }: { error: Error; retry?: () => unknown }) {
  if (error instanceof ApiError && error.status === 403 && error.code !== 'PASSWORD_WRONG')
    return <NoPermission>{whyRefused[error.code] ?? error.message}</NoPermission>
  const fields = error instanceof ApiError ? error.errors : []
  return (
    <Alert color="red" title="That did not work" role="alert">
      <Stack gap="xs">
        <Text size="sm">{error.message}</Text>
        {error instanceof ApiError && error.status === 404 ? (
          <Text size="sm">It may have been deleted, or be of a project that you do not see.</Text>
        ) : null}
        {fields.length < 2 ? null : (
          <List size="sm">
            {fields.map(({ path, message }) => (
              <List.Item key={`${path}:${message}`}>
                {path}: {message}
              </List.Item>
            ))}
          </List>
        )}
        {retry === undefined ? null : <TryAgain retry={retry} />}
      </Stack>
    </Alert>
  )
}

function TryAgain({ retry }: { retry: () => unknown }) {
  const [isTrying, setIsTrying] = useState(false)
  const tryAgain = async () => {
    setIsTrying(true)
    await retry()
    setIsTrying(false)
  }
  return (
    <Group>
      <Button size="xs" variant="default" loading={isTrying} onClick={() => void tryAgain()}>
        Try again
      </Button>
    </Group>
  )
}

type Asked = Pick<UseQueryResult, 'data' | 'error' | 'errorUpdatedAt'>

/**
 * The reason for a missing answer. Kept during retries, when the query has forgotten it, so that it does not
 * flicker.
 */
export function useFailure({ data, error, errorUpdatedAt }: Asked): Error | null {
  const [last, setLast] = useState<{ error: Error | null; at: number }>({ error: null, at: 0 })
  if (error !== null && error !== last.error) setLast({ error, at: errorUpdatedAt })
  return error ?? (data === undefined && last.at === errorUpdatedAt ? last.error : null)
}

type Unanswered = Asked & Pick<UseQueryResult, 'refetch'>

/** Shown in place of an answer that has not arrived. */
export function NoAnswerYet({ query, waiting }: { query: Unanswered; waiting?: ReactNode }) {
  const failure = useFailure(query)
  return failure === null ? (waiting ?? <Waiting />) : <Failure error={failure} retry={query.refetch} />
}

interface LoadedProps<T> {
  query: Unanswered & Pick<UseQueryResult<T>, 'data'>
  /** Shown if the answer is empty. */
  empty?: { when: (data: T) => boolean; show: ReactNode }
  /** In the shape of the content, to avoid layout shifts. */
  waiting?: ReactNode
  children: (data: T) => ReactNode
}

/** A query's answer or state. An answer stays while it is refetched; if that fails, `LastRead` says so. */
export function Loaded<T>({ query, empty, waiting, children }: LoadedProps<T>) {
  if (query.data === undefined) return <NoAnswerYet query={query} waiting={waiting} />
  return empty?.when(query.data) === true ? empty.show : children(query.data)
}
