import { Text } from '@mantine/core'
import { formatCount } from '../../formats/format-number.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import type { Webhook } from './webhook-texts.ts'

type Health = Pick<Webhook, 'filter_expression_error' | 'last_result' | 'last_day'> &
  Partial<Pick<Webhook, 'disabled_by_failures'>>

/** Why a webhook or destination is not delivered to, by what failed. */
export function FailureNotes({
  of: {
    disabled_by_failures: disabled = null,
    filter_expression_error: failed,
    last_result: last,
    last_day: day,
  },
}: {
  of: Health
}) {
  return (
    <>
      {day.failed === 0 ? null : (
        <Text size="xs" c="red">
          {formatCount(day.failed)} of {formatCount(day.deliveries)} deliveries of the last day failed
          {last === null || last.error === null ? null : (
            <>
              {'; the last: '}
              <PlainText text={last.error} />
            </>
          )}
        </Text>
      )}
      {disabled === null ? null : (
        <Text size="xs" c="red">
          Disabled after failures: <PlainText text={disabled.reason} />
        </Text>
      )}
      {failed === null ? null : (
        <Text size="xs" c="red">
          The expression failed and sent nothing: <PlainText text={failed.message} />
        </Text>
      )}
    </>
  )
}
