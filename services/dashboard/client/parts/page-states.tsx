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
      title="Access denied"
      description={children}
      py="xl"
    />
  )
}

export function NoProject() {
  return <Nothing title="No project">An administrator can create one, or assign you to one.</Nothing>
}

export function NotFound() {
  return (
    <>
      <PageHead title="Page not found" />
      <PageLink to="/">Home</PageLink>
    </>
  )
}

const refusals: Readonly<Record<string, string>> = {
  ROLE_FORBIDS: 'Your role does not allow this. An administrator can change it.',
  OTHER_PROJECT: 'You do not have access to its project. An administrator can grant it.',
  NO_PROJECT: 'You have no project yet. An administrator can assign one.',
}

/** The API's error with all field errors, and a retry button. */
export function Failure({ error, retry }: { error: Error; retry?: () => unknown }) {
  if (error instanceof ApiError && error.status === 403 && error.code !== 'PASSWORD_WRONG')
    return <NoPermission>{refusals[error.code] ?? error.message}</NoPermission>
  const fields = error instanceof ApiError ? error.errors : []
  const title = error instanceof ApiError ? `Request failed (${error.status})` : 'Request failed'
  return (
    <Alert color="red" title={title} role="alert">
      <Stack gap="xs">
        <Text size="sm">{error.message}</Text>
        {error instanceof ApiError && error.status === 404 ? (
          <Text size="sm">It may have been deleted, or belong to a project that you cannot see.</Text>
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

/** A query's answer or state. An answer stays while it is refetched; if that fails, `StaleNotice` says so. */
export function Loaded<T>({ query, empty, waiting, children }: LoadedProps<T>) {
  if (query.data === undefined) return <NoAnswerYet query={query} waiting={waiting} />
  return empty?.when(query.data) === true ? empty.show : children(query.data)
}
