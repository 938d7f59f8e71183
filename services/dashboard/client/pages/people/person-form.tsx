import { MultiSelect, Select, TextInput, type MultiSelectProps } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMe, type Role } from '../../api/session.ts'
import { useApiChange } from '../../api/use-api.ts'
import { formatCount } from '../../formats/format-number.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import type { Item } from '../../api/call-api.ts'

interface PersonFormProps {
  /** Absent: a new one. */
  person: PersonEntry | undefined
  onClose: () => void
  onPassword: (password: string) => void
}

interface Values {
  login: string
  name: string
  role: Role
  projectIds: string[]
}

const roleTexts = [
  { value: 'viewer', label: 'Viewer: sees requests and verdicts, not content' },
  { value: 'analyst', label: 'Analyst: reads content, reviews verdicts' },
  { value: 'admin', label: 'Administrator: everything, in every project' },
]

/** The form of a person. A new one gets a password, shown once. */
export function PersonForm({ person, onClose, onPassword }: PersonFormProps) {
  const isKnown = person !== undefined
  const create = useApiChange('POST /api/people', ['GET /api/people'])
  const change = useApiChange('PATCH /api/people/{id}', ['GET /api/people'])
  const form = useForm<Values>({
    ...usePersistedValues(`person.${person?.id ?? 'new'}`, {
      login: person?.login ?? '',
      name: person?.name ?? '',
      role: person?.role ?? 'analyst',
      projectIds: person?.project_ids ?? [],
    }),
    validate: {
      login: (login) => (login.trim() === '' ? 'Enter a login' : null),
      name: (name) => (name.trim() === '' ? 'Enter a name' : null),
    },
  })
  const submit = form.onSubmit(({ login, name, role, projectIds: project_ids }) => {
    if (isKnown) {
      change.mutate({ params: { id: person.id }, body: { name, role, project_ids } }, { onSuccess: onClose })
      return
    }
    const onSuccess = ({ password }: { password?: string | undefined }) => {
      if (password !== undefined) onPassword(password)
      onClose()
    }
    create.mutate({ body: { login, name, role, project_ids } }, { onSuccess })
  })
  return (
    <FormModal
      title={isKnown ? 'Edit person' : 'Add person'}
      onClose={onClose}
      onSubmit={submit}
      error={create.error ?? change.error}
      isPending={create.isPending || change.isPending}
      submit="Save"
    >
      <TextInput
        label="Login"
        disabled={isKnown}
        data-autofocus={!isKnown || undefined}
        {...form.getInputProps('login')}
      />
      {/* Without a focusable first field, a dialog leaves focus behind itself. */}
      <TextInput label="Name" data-autofocus={isKnown || undefined} {...form.getInputProps('name')} />
      <Select label="Role" data={roleTexts} allowDeselect={false} {...form.getInputProps('role')} />
      {form.getValues().role === 'admin' ? null : <ProjectsField given={form.getInputProps('projectIds')} />}
    </FormModal>
  )
}

/** The projects that they see. */
function ProjectsField({ given }: { given: MultiSelectProps }) {
  const { projects = [], project_count: count = 0 } = useMe().data ?? {}
  return (
    <MultiSelect
      label="Projects"
      {...(count > projects.length
        ? {
            description: `${formatCount(projects.length)} of ${formatCount(count)} are listed; the API gives others`,
          }
        : {})}
      data={projects.map(({ id, name }) => ({ value: id, label: name }))}
      searchable
      {...given}
    />
  )
}

export type PersonEntry = Item<'GET /api/people'>
