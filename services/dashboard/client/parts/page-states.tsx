import { Alert, Button, Center, EmptyState, Group, List, Loader, Stack, Text } from '@mantine/core'
import { IconLock, IconMoodEmpty } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ApiError } from '../api/call-api.ts'
import { PageHead } from './page-head.tsx'
import { PageLink } from './page-link.tsx'

/** Something comes. */
export function Waiting() {
  return (
    <Center mih={160} role="status" aria-label="Loading">
      <Loader size="sm" />
    </Center>
  )
}

/** There is nothing, and why that may be. */
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

/** What the API says is wrong, with every field at fault, and the way to try again. */
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

/** Why there is no answer; also while it is asked for again, when the query has forgotten: what was said of it would come and go with every try. */
export function useFailure({ data, error, errorUpdatedAt }: Asked): Error | null {
  const [last, setLast] = useState<{ error: Error | null; at: number }>({ error: null, at: 0 })
  if (error !== null && error !== last.error) setLast({ error, at: errorUpdatedAt })
  return error ?? (data === undefined && last.at === errorUpdatedAt ? last.error : null)
}

type Unanswered = Asked & Pick<UseQueryResult, 'refetch'>

/** What stands in the place of an answer that has not come. */
export function NoAnswerYet({ query, waiting }: { query: Unanswered; waiting?: ReactNode }) {
  const failure = useFailure(query)
  return failure === null ? (waiting ?? <Waiting />) : <Failure error={failure} retry={query.refetch} />
}

interface LoadedProps<T> {
  query: Unanswered & Pick<UseQueryResult<T>, 'data'>
  /** When the answer holds nothing. */
  empty?: { when: (data: T) => boolean; show: ReactNode }
  /** In the shape of what comes, so that nothing jumps. */
  waiting?: ReactNode
  children: (data: T) => ReactNode
}

/** What a query answers, or the state that it is in. Once there is something it stays while it is asked for anew; when that fails `LastRead` says so. */
export function Loaded<T>({ query, empty, waiting, children }: LoadedProps<T>) {
  if (query.data === undefined) return <NoAnswerYet query={query} waiting={waiting} />
  return empty?.when(query.data) === true ? empty.show : children(query.data)
}
