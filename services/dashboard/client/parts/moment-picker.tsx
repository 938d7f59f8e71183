import '@mantine/dates/styles.css'
import { DateTimePicker, type DateTimePickerProps } from '@mantine/dates'

/** A day and a time of day, in the browser's zone. The library's buttons have pictures alone. */
export function MomentPicker({ label, ...rest }: Omit<DateTimePickerProps, 'ref'> & { label: string }) {
  return (
    <DateTimePicker
      label={label}
      previousLabel="Earlier"
      nextLabel="Later"
      submitButtonProps={{ 'aria-label': 'Take this time' }}
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      // Days of other months, half transparent, and red ones are too pale to be read.
      hideOutsideDates
      weekendDays={[]}
      {...rest}
    />
  )
}
