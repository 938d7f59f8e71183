import { Button, type ButtonProps } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { saveFile } from '../api/save-file.ts'
import { sayHowItWent } from './ask-first.tsx'

interface File {
  address: string
  name: string
}

/** Saves a file and shows a notification of success or failure. */
export function useDownload(): { isUnderWay: boolean; download: (file: File) => void } {
  const saving = useMutation({ mutationFn: ({ address, name }: File) => saveFile(address, name) })
  return {
    isUnderWay: saving.isPending,
    download: (file) => void sayHowItWent(saving.mutateAsync(file), `${file.name} is saved.`),
  }
}

/** Downloads an export of the API. */
export function DownloadButton({ address, name, ...rest }: File & ButtonProps) {
  const { isUnderWay, download } = useDownload()
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
      loading={isUnderWay}
      onClick={() => download({ address, name })}
      {...rest}
    />
  )
}
