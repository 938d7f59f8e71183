import { Autocomplete, Select, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useApi } from '../../api/use-api.ts'
import { useScorerNames } from '../../parts/use-scorer-names.ts'
import { labelOfFilter, offeredFilters, type RuleValues } from './rule-texts.ts'

interface FilterFieldsProps {
  projectId: string
  form: UseFormReturnType<RuleValues>
}

/** A field for each filter that the metric can have. Empty: everything. */
export function FilterFields({ projectId, form }: FilterFieldsProps) {
  const scorers = useScorerNames(projectId)
  const { data } = useApi('GET /api/metadata-keys', { query: { project_id: projectId } })
  const keys = (data?.keys ?? []).map(({ name }) => name)
  return offeredFilters(form.values, keys).map((name) => {
    const shared = {
      label: labelOfFilter(name),
      placeholder: 'Any',
      value: form.values.filter[name] ?? '',
      error: form.errors[`filter.${name}`],
    }
    // As a whole: the form takes the dot in `metadata.team` for a path.
    const set = (value: string | null) =>
      form.setFieldValue('filter', { ...form.getValues().filter, [name]: value ?? '' })
    if (name === 'severity')
      return (
        <Select
          key={name}
          {...shared}
          data={['critical', 'high', 'medium']}
          value={shared.value === '' ? null : shared.value}
          clearable
          onChange={set}
        />
      )
    if (name === 'scorer_name') return <Autocomplete key={name} {...shared} data={scorers} onChange={set} />
    return (
      <TextInput
        key={name}
        {...shared}
        maxLength={256}
        onChange={(event) => set(event.currentTarget.value)}
      />
    )
  })
}
