import { MantineProvider } from '@mantine/core'
import { ModalsProvider } from '@mantine/modals'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { contentNonce } from './content-nonce.ts'
import { createQueryClient } from './query-client.ts'
import { createAppRouter } from './router.tsx'
import { readableColours, theme } from './theme.ts'

const queryClient = createQueryClient()
const router = createAppRouter()

/** The providers around all pages. */
export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={readableColours}
      defaultColorScheme="auto"
      getStyleNonce={contentNonce}
    >
      <QueryClientProvider client={queryClient}>
        <ModalsProvider>
          <Notifications />
          <RouterProvider router={router} />
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  )
}
