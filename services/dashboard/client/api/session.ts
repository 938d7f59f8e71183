import {
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { ApiError, send } from './call-api.ts'

export const roles = ['viewer', 'analyst', 'admin'] as const
export type Role = (typeof roles)[number]

/** Who is logged in, as the dashboard's server knows them. */
export interface Person {
  id: string
  name: string
  role: Role
  /** Those that they may see, by name: the first of them, where `project_count` is more. */
  projects: readonly { id: string; name: string }[]
  project_count: number
  /** Of this browser's session. */
  login_id: string
}

export interface LoginWays {
  password: boolean
  /** What stands on the button of single sign-on; null: there is none. */
  oidc: { label: string } | null
}

export const meKey = ['me']

/** Who is logged in; null: nobody. */
export const meOptions = queryOptions<Person | null, ApiError>({
  queryKey: meKey,
  queryFn: async ({ client, signal }) => {
    const person = await askWho(signal)
    // Also who signed in in another tab, which has the same cookie.
    if (person !== null && person.id !== client.getQueryData<Person | null>(meKey)?.id) forgetAnswers(client)
    return person
  },
  // A session that ends elsewhere is noticed by the next answer that is a 401 (see app/query-client.ts).
  staleTime: 300_000,
})

async function askWho(signal: AbortSignal): Promise<Person | null> {
  try {
    return (await (await send('/bff/me', { signal })).json()) as Person
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

export function useMe(): UseQueryResult<Person | null, ApiError> {
  return useQuery(meOptions)
}

export function useLoginWays(): UseQueryResult<LoginWays, ApiError> {
  return useQuery<LoginWays, ApiError>({
    queryKey: ['login-ways'],
    queryFn: async ({ signal }) => (await (await send('/bff/login', { signal })).json()) as LoginWays,
  })
}

/** Where the browser goes for single sign-on; it comes back to this page, without what it was told there of an attempt that failed. */
export function singleSignOnAddress({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string {
  const kept = new URLSearchParams(search)
  kept.delete('sign_in_error')
  const returnTo = kept.size === 0 ? pathname : `${pathname}?${kept.toString()}`
  return `/bff/oidc/start?${new URLSearchParams({ return_to: returnTo }).toString()}`
}

export function useLogin() {
  const client = useQueryClient()
  return useMutation<unknown, ApiError, { name: string; password: string }>({
    mutationFn: (body) => send('/bff/login', { method: 'POST', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: meKey }),
  })
}

/**
 * Whoever signs in may be somebody else than whose session ended on this page: what that person read is kept for minutes, and shown
 * without asking the API, which would refuse it or write it down.
 */
export function forgetAnswers(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== meKey[0] })
}

export function useLogout() {
  const client = useQueryClient()
  return useMutation<unknown, ApiError, undefined>({
    mutationFn: () => send('/bff/logout', { method: 'POST' }),
    onSuccess: () => endSession(client),
  })
}

/** Nothing that one person saw is there for the next. */
export async function endSession(client: QueryClient): Promise<void> {
  // Asked before the session ended and answered behind it, it would say that they are logged in.
  await client.cancelQueries({ queryKey: meKey })
  // Never removed, only changed: whoever shows an answer that was removed goes on showing it, and the page stays.
  client.setQueryData(meKey, null)
  forgetAnswers(client)
  client.getMutationCache().clear()
}
