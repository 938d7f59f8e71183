import '@mantine/dates/styles.css'
import { DateTimePicker, type DateTimePickerProps } from '@mantine/dates'

/** Date and time in the shown zone. Adds labels to the library's icon buttons. */
export function MomentPicker({ label, ...rest }: Omit<DateTimePickerProps, 'ref'> & { label: string }) {
  return (
    <DateTimePicker
      label={label}
      previousLabel="Previous"
      nextLabel="Next"
      submitButtonProps={{ 'aria-label': 'Apply' }}
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      // Days of other months are half transparent, and red ones too pale to read.
      hideOutsideDates
      weekendDays={[]}
      {...rest}
    />
  )
}
