import { Button } from '@mantine/core'
import { usePersisted } from '../../parts/use-draft.ts'
import type { Score } from './request-detail.ts'
import { SuppressForm } from './suppress-form.tsx'

/** Offers a suppression for scores like this unsafe one. */
export function FalseAlarm({ score, agentName }: { score: Score; agentName: string | null }) {
  const [isOpen, setIsOpen] = usePersisted<true>(`suppression.${score.project_id}.${score.id}`)
  if (score.score_label !== 'unsafe') return null
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        mt="xs"
        style={{ alignSelf: 'flex-start' }}
        onClick={() => setIsOpen(true)}
      >
        False alarm…
      </Button>
      {isOpen ? (
        <SuppressForm score={score} agentName={agentName} onClose={() => setIsOpen(undefined)} />
      ) : null}
    </>
  )
}
