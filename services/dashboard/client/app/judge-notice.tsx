import { Alert, Text } from '@mantine/core'
import { judgeRemedy, neverSafeByDetectors, safeByDetectors } from '#schemas/judge-status.ts'
import { useMe } from '../api/session.ts'

/** What stays undecided while the scorers run without a judge, and how to give them one. */
export function JudgeNotice() {
  if (useMe().data?.judge?.configured !== false) return null
  return (
    <Alert color="gray" title="No judge is configured" mb="lg">
      <Text size="sm">
        Detectors find threats for every scorer. Where they find none, only {safeByDetectors.join(', ')} may
        say safe; {neverSafeByDetectors.join(', ')} stay undecided. To have a language model decide the rest,{' '}
        {judgeRemedy}.
      </Text>
    </Alert>
  )
}
