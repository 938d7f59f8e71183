import { Autocomplete } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { useSetTexts } from '../../app/address.ts'
import { usePageKeys } from '../../app/page-keys.ts'
import { finishTyped, readTyped, suggest } from './filter-language.ts'
import { choosing } from './read-filters.ts'

type Facets = Answer<'GET /api/requests/facets'>

interface FilterBarProps {
  filters: Readonly<Record<string, string>>
  /** Known values, which are suggested. */
  facets: Facets | undefined
}

/** One line for filters: a field, an operator and a value, each suggested. */
export function FilterBar({ filters, facets }: FilterBarProps) {
  const setTexts = useSetTexts()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const [error, setError] = useState<string | null>(null)
  const [isOpen, setOpen] = useState(false)
  usePageKeys({ focusFilter: () => input.current?.focus() })
  const change = (next: string) => {
    setText(next)
    setError(null)
    setOpen(true)
  }
  const apply = (typed: string) => {
    const filter = finishTyped(typed)
    if ('message' in filter) {
      setError(filter.message)
      return
    }
    setTexts(choosing(filters, filter.name, filter.value))
    change('')
    setOpen(false)
  }
  /** A suggestion that is not a whole filter waits for the rest. */
  const take = (suggestion: string) => {
    const read = readTyped(suggestion)
    if (read.kind === 'value' && read.typed !== '') apply(suggestion)
    else change(`${suggestion} `)
  }
  const valuesOf = (name: string) => {
    const found = facets?.[name as keyof Facets]
    return Array.isArray(found) ? found.map(({ value }) => value) : []
  }
  return (
    <Autocomplete
      ref={input}
      aria-label="Filter"
      placeholder="Filter: field, operator, value"
      leftSection={<IconFilter size={16} aria-hidden />}
      data={suggest(text, valuesOf)}
      filter={({ options }) => options}
      maxDropdownHeight={320}
      value={text}
      error={error}
      dropdownOpened={isOpen}
      onFocus={() => setOpen(true)}
      onBlur={() => setOpen(false)}
      onChange={change}
      onOptionSubmit={(suggestion) => {
        // After the component has put the suggestion into the field.
        queueMicrotask(() => take(suggestion))
      }}
      onKeyDown={(event) => {
        const hasChosen = input.current?.getAttribute('aria-activedescendant') !== null
        if (event.key === 'Enter' && !(isOpen && hasChosen)) apply(text)
        if (event.key === 'Escape') setOpen(false)
      }}
    />
  )
}
