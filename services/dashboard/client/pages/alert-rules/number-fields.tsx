import { NumberInput, Select } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { unitOf, type RuleValues } from './rule-texts.ts'

/** Window, thresholds and pauses. */
export function NumberFields({ form }: { form: UseFormReturnType<RuleValues> }) {
  const unit = unitOf(form.values)
  const minutes = (max: number, min = 0) =>
    ({ min, max, allowDecimal: false, clampBehavior: 'none' }) as const
  return (
    <>
      <NumberInput label="Window (min)" {...minutes(1_440, 5)} {...form.getInputProps('window')} />
      <Select
        label="Fires when the value is"
        data={[
          { value: 'above', label: 'Above the threshold' },
          { value: 'below', label: 'Below the threshold' },
        ]}
        allowDeselect={false}
        {...form.getInputProps('direction')}
      />
      <NumberInput label={`Alert (${unit})`} {...form.getInputProps('alert')} />
      <NumberInput label={`Warning (${unit})`} placeholder="None" {...form.getInputProps('warning')} />
      <NumberInput
        label="For (min)"
        description="How long it lasts before the rule fires"
        {...minutes(1_440)}
        {...form.getInputProps('forMinutes')}
      />
      <NumberInput
        label="Cooldown (min)"
        description="Silence after it fired"
        {...minutes(10_080)}
        {...form.getInputProps('cooldown')}
      />
    </>
  )
}
