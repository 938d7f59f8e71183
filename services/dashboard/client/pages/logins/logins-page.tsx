import { useApi, useApiChange } from '../../api/use-api.ts'
import { LoginTable } from '../../parts/login-table.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { ChangePassword } from './change-password.tsx'

/** One's own sessions; unknown ones can be ended. */
export function LoginsPage() {
  const logins = useApi('GET /api/me/logins', {}, { pollMs: 30_000 })
  const end = useApiChange('DELETE /api/me/logins/{login_id}', ['GET /api/me/logins'])
  return (
    <>
      <PageHead title="Your sessions">
        <ChangePassword />
      </PageHead>
      <Loaded
        query={logins}
        empty={{
          when: ({ items }) => items.length === 0,
          show: <Nothing title="No session is open">All of yours have ended.</Nothing>,
        }}
      >
        {({ items }) => (
          <LoginTable
            logins={items}
            advice="If that is not you, change your password too."
            end={(login_id) => end.mutateAsync({ params: { login_id } })}
          />
        )}
      </Loaded>
    </>
  )
}
