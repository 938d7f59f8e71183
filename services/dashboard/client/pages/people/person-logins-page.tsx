import { Button, Text } from '@mantine/core'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { usePathText } from '../../app/address.ts'
import { confirmAction } from '../../parts/confirm-action.tsx'
import { LoginTable } from '../../parts/login-table.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'

const reading = 'GET /api/people/{id}/logins'

/** Another person's sessions. Ending one is audited. */
export function PersonLoginsPage() {
  const params = { id: usePathText('id') }
  const person = useApi('GET /api/people/{id}', { params })
  const logins = useApi(reading, { params }, { pollMs: 30_000 })
  const end = useApiChange('DELETE /api/people/{id}/logins', [reading])
  const askEndAll = () =>
    confirmAction({
      title: 'End all of their sessions?',
      consequence: 'They have to sign in again everywhere.',
      confirm: 'End all',
      action: () => end.mutateAsync({ params }),
      done: 'They are signed out everywhere.',
    })
  return (
    <>
      <PageHead title="Sessions of a person">
        <PageLink to="/settings/people" size="sm">
          People
        </PageLink>
        <Button
          size="xs"
          color="red"
          variant="light"
          disabled={(logins.data?.items.length ?? 0) === 0}
          onClick={askEndAll}
        >
          End all
        </Button>
      </PageHead>
      <Loaded query={person}>
        {({ name, login, role }) => (
          <Text mb="md">
            <PlainText text={name} /> (<PlainText text={login} />
            ), {role}
          </Text>
        )}
      </Loaded>
      <Loaded
        query={logins}
        empty={{
          when: ({ items }) => items.length === 0,
          show: <Nothing title="Not signed in">They have no open sessions.</Nothing>,
        }}
      >
        {({ items }) => (
          <LoginTable
            logins={items}
            advice="If they do not recognise it, reset their password too."
            end={(login_id) => end.mutateAsync({ params, query: { login_id } })}
          />
        )}
      </Loaded>
    </>
  )
}
