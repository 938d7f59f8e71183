import { Button, CloseButton, Fieldset, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import type { SettingsForm } from './project-settings.ts'

/** The share of calls that each scorer scores. */
export function SamplingFields({ form }: { form: SettingsForm }) {
  return (
    <Fieldset legend="Sampling">
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          A listed scorer scores this share of the calls and skips the others.
        </Text>
        {form.getValues().sampling.map((_row, index) => (
          <Group key={index} align="flex-end" wrap="nowrap">
            <TextInput label="Scorer" flex={1} {...form.getInputProps(`sampling.${index}.scorer`)} />
            <NumberInput
              label="Percent of calls"
              min={0}
              max={100}
              w={140}
              {...form.getInputProps(`sampling.${index}.percent`)}
            />
            <CloseButton
              aria-label={`Remove sampling ${index + 1}`}
              size="lg"
              onClick={() => form.removeListItem('sampling', index)}
            />
          </Group>
        ))}
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => form.insertListItem('sampling', { scorer: '', percent: 100 })}
          >
            Sample a scorer
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  )
}
