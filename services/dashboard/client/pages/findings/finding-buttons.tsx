import { Button, Group } from '@mantine/core'
import { mayBecome, type Finding, type FindingState } from './finding-texts.ts'
import type { FindingActions } from './use-finding-actions.tsx'

const buttons: readonly { state: FindingState; label: string }[] = [
  { state: 'acknowledged', label: 'Acknowledge' },
  { state: 'resolved', label: 'Resolve' },
  { state: 'false_alarm', label: 'False alarm' },
  { state: 'muted', label: 'Mute…' },
  { state: 'open', label: 'Open again' },
]

interface FindingButtonsProps {
  findings: readonly Finding[]
  actions: FindingActions
}

/** What can be done with findings: what at least one of them may become. */
export function FindingButtons({ findings, actions }: FindingButtonsProps) {
  const offered = buttons.filter(({ state }) => findings.some((finding) => mayBecome(finding.state, state)))
  return (
    <Group gap="xs" role="group" aria-label="Actions">
      {offered.map(({ state, label }) => (
        <Button
          key={state}
          size="xs"
          variant="default"
          disabled={actions.isPending}
          onClick={() => (state === 'muted' ? actions.askMute(findings) : actions.become(findings, state))}
        >
          {label}
        </Button>
      ))}
      <Button
        size="xs"
        variant="default"
        disabled={actions.isPending || findings.length === 0}
        onClick={() => actions.askOwner(findings)}
      >
        Owner…
      </Button>
    </Group>
  )
}
