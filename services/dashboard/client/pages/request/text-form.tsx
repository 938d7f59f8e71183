import { Group, SegmentedControl } from '@mantine/core'

const forms = [
  { value: 'formatted', label: 'Formatted' },
  { value: 'written', label: 'As written' },
]

/** Whether texts are formatted. */
export function TextForm({ form, setForm }: { form: string; setForm: (form: string) => void }) {
  return (
    <Group>
      <SegmentedControl size="xs" aria-label="Texts" value={form} onChange={setForm} data={forms} />
    </Group>
  )
}
