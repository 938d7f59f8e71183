import { NumberInput, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { kindForms, type KindField } from './kind-fields.ts'
import type { DestinationValues } from './destination-values.ts'

interface KindInputsProps {
  form: UseFormReturnType<DestinationValues>
  /** There are credentials that an empty field keeps. */
  keepsCredentials: boolean
}

/** The settings and credentials of the chosen kind. */
export function KindInputs({ form, keepsCredentials }: KindInputsProps) {
  return kindForms[form.values.kind].fields.map((field) => {
    const { part } = field
    const key = `${part}.${field.name}`
    const keeps = part === 'credentials' && keepsCredentials
    return (
      <KindInput
        key={key}
        field={keeps ? { ...field, description: 'Empty: the one that is stored' } : field}
        value={form.values.typed[key] ?? ''}
        error={form.errors[key]}
        onChange={(text) => form.setFieldValue('typed', (typed) => ({ ...typed, [key]: text }))}
      />
    )
  })
}

interface KindInputProps {
  field: KindField
  value: string
  error: ReactNode
  onChange: (text: string) => void
}

function KindInput({ field, value, error, onChange }: KindInputProps) {
  const { label, description, input, choices = [], isOptional } = field
  const placeholder = isOptional === true ? 'None' : undefined
  const shared = { label, description, error, value, placeholder }
  const type = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)
  switch (input) {
    case 'secret':
      return <PasswordInput {...shared} autoComplete="new-password" onChange={type} />
    case 'number':
      return <NumberInput {...shared} allowDecimal={false} onChange={(next) => onChange(String(next))} />
    case 'choice':
      return (
        <Select {...shared} data={choices} allowDeselect={false} onChange={(next) => onChange(next ?? '')} />
      )
    case 'switch':
      return (
        <Switch
          label={label}
          description={description}
          error={error}
          checked={value === 'true'}
          onChange={(event) => onChange(String(event.currentTarget.checked))}
        />
      )
    case 'lines':
    case 'code':
      return (
        <Textarea
          {...shared}
          autosize
          minRows={2}
          maxRows={12}
          spellCheck={false}
          {...(input === 'code' ? { ff: 'monospace' } : {})}
          onChange={type}
        />
      )
    case 'text':
      return <TextInput {...shared} spellCheck={false} onChange={type} />
  }
}
