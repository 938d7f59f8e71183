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

/** The signed-in person. */
export interface Person {
  id: string
  name: string
  role: Role
  /** The projects that they may see, by name; only the first ones if `project_count` is larger. */
  projects: readonly { id: string; name: string }[]
  project_count: number
  /** Absent from an API of the version before. */
  judge?: { configured: boolean | null }
  /** Where applications reach the gateway. */
  gateway_url: string
  /** This browser's session. */
  login_id: string
}

export interface LoginWays {
  password: boolean
  /** The label of the single sign-on button, or null. */
  oidc: { label: string } | null
}

export const meKey = ['me']

/** The signed-in person, or null. */
export const meOptions = queryOptions<Person | null, ApiError>({
  queryKey: meKey,
  queryFn: async ({ client, signal }) => {
    const person = await askWho(signal)
    // Somebody else may have signed in in another tab, which shares the cookie.
    if (person !== null && person.id !== client.getQueryData<Person | null>(meKey)?.id) forgetAnswers(client)
    return person
  },
  // If a session ends elsewhere, the next 401 shows it (see app/query-client.ts).
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

/** The address that starts single sign-on. Returns to this page, without the error of an earlier attempt. */
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
 * Drops cached answers when another person may have signed in: they are kept for minutes, and showing them
 * would bypass the API's permissions and audit log.
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

/** Ends the session and clears everything cached. */
export async function endSession(client: QueryClient): Promise<void> {
  // An answer that was requested before sign-out would sign the person in again.
  await client.cancelQueries({ queryKey: meKey })
  // Set, not removed: observers of a removed query keep showing its last data.
  client.setQueryData(meKey, null)
  forgetAnswers(client)
  client.getMutationCache().clear()
}
