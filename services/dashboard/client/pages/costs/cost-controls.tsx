import { Button, Group, SegmentedControl, Select, Switch, TextInput } from '@mantine/core'
import { metadataPrefix } from '#schemas/metadata-filter.ts'
import { useSetTexts } from '../../app/address.ts'
import { monthRange } from '../../formats/calendar-months.ts'
import { labelOfDimension, metrics, type DimensionName, type Metric } from './read-costs.ts'

/** Buttons for calendar months, in which costs are reported. */
export function MonthButtons() {
  const setTexts = useSetTexts()
  const choose = (offset: number) => setTexts({ range: undefined, ...monthRange(Date.now(), offset) })
  return (
    <Button.Group>
      <Button variant="default" onClick={() => choose(-1)}>
        Last month
      </Button>
      <Button variant="default" onClick={() => choose(0)}>
        This month
      </Button>
    </Button.Group>
  )
}

interface CostControlsProps {
  /** One or two dimensions. */
  by: readonly string[]
  metric: Metric
  /** The project's declared metadata keys. */
  keys: readonly string[]
  ofEvery: boolean
  maySeeEvery: boolean
}

const none = 'none'
const ofOne: readonly DimensionName[] = ['model', 'provider', 'agent', 'source', 'user']
const ofAll: readonly DimensionName[] = ['project', 'model', 'provider', 'agent', 'source']

/** What to group by and what to show, all in the address. */
export function CostControls({ metric, ofEvery, maySeeEvery, ...grouping }: CostControlsProps) {
  const setTexts = useSetTexts()
  return (
    <Group mb="md" align="flex-end">
      <GroupBy {...grouping} ofEvery={ofEvery} />
      {maySeeEvery ? (
        <Switch
          label="All projects"
          checked={ofEvery}
          mb={8}
          onChange={() => setTexts({ all: ofEvery ? undefined : 'true', by: undefined })}
        />
      ) : null}
      <SegmentedControl
        aria-label="Show"
        size="xs"
        data={Object.entries(metrics).map(([value, { label }]) => ({ value, label }))}
        value={metric}
        onChange={(value) => setTexts({ show: value })}
      />
    </Group>
  )
}

function GroupBy({ by, keys, ofEvery }: Pick<CostControlsProps, 'by' | 'keys' | 'ofEvery'>) {
  const setTexts = useSetTexts()
  const [first = 'model', second] = by
  const known = ofEvery ? ofAll : [...keys.map((key) => `${metadataPrefix}${key}`), ...ofOne]
  const choices = (chosen: string | undefined) =>
    [...new Set([...known, ...(chosen === undefined ? [] : [chosen])])].map((value) => ({
      value,
      label: labelOfDimension(value),
    }))
  const group = (...names: (string | undefined)[]) =>
    setTexts({ by: names.filter((name) => name !== undefined && name !== none).join() })
  const common = { allowDeselect: false, w: 150 }
  return (
    <>
      <Select
        {...common}
        label="Group by"
        data={choices(first)}
        value={first}
        onChange={(value) => group(value ?? first, second === value ? undefined : second)}
      />
      {ofEvery ? null : (
        <>
          <Select
            {...common}
            label="And by"
            data={[
              { value: none, label: 'Nothing else' },
              ...choices(second).filter(({ value }) => value !== first),
            ]}
            value={second ?? none}
            onChange={(value) => group(first, value ?? undefined)}
          />
          <OtherKey onChoose={(key) => group(metadataPrefix + key)} />
        </>
      )}
    </>
  )
}

/** Of metadata that is not counted, the newest calls are read. */
function OtherKey({ onChoose }: { onChoose: (key: string) => void }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const key = new FormData(event.currentTarget).get('key')
        if (typeof key === 'string' && key !== '') onChoose(key)
      }}
    >
      <TextInput name="key" label="Other metadata key" placeholder="Press Enter" w={160} maxLength={180} />
    </form>
  )
}
