import { Fieldset, NumberInput, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { captureNames, type LimitValues } from './key-limits.ts'

const captures = Object.entries(captureNames).map(([value, label]) => ({ value, label }))
const choices = [
  { value: 'stop', label: 'Refuse calls' },
  { value: 'allow', label: 'Allow calls, and charge them later' },
]

interface LimitFieldsProps {
  /** The input's value, error and listeners. */
  inputOf: (field: keyof LimitValues) => ReturnType<UseFormReturnType<LimitValues>['getInputProps']>
}

/** Whose key it is and what it may do through a gateway. */
export function LimitFields({ inputOf }: LimitFieldsProps) {
  return (
    <>
      <TextInput
        label="User"
        description="Recorded with its calls that name none"
        placeholder="ada@example.com"
        {...inputOf('user')}
      />
      <TextInput
        label="Team"
        description="Recorded as the metadata label team"
        placeholder="search"
        {...inputOf('team')}
      />
      <Fieldset legend="Through a gateway">
        <Stack>
          <TagsInput
            label="Models"
            description="Names, or beginnings that end in *. Empty: any model"
            {...inputOf('models')}
          />
          <NumberInput
            label="Calls a minute"
            description="Empty: no limit"
            min={1}
            max={1_000_000}
            allowDecimal={false}
            {...inputOf('ratePerMinute')}
          />
          <NumberInput
            label="Budget a month, USD"
            description="Further calls are refused until the next month. Empty: no limit"
            min={0}
            decimalScale={2}
            {...inputOf('budgetUsd')}
          />
          <Select
            label="While the budget is unknown"
            description="When the gateway cannot reach the API"
            data={choices}
            allowDeselect={false}
            {...inputOf('whenUnknown')}
          />
        </Stack>
      </Fieldset>
      <Select label="What is recorded" data={captures} allowDeselect={false} {...inputOf('capture')} />
    </>
  )
}
