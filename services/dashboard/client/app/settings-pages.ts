import { IconKey, IconWebhook } from '@tabler/icons-react'
import type { PageEntry } from './page-entry.ts'

/** Where projects, keys, webhooks and people are set up. */
export const settingsPages: readonly PageEntry[] = [
  {
    path: '/settings/keys',
    title: 'API keys',
    icon: IconKey,
    section: 'Settings',
    role: 'admin',
    load: async () => (await import('../pages/keys/keys-page.tsx')).KeysPage,
  },
  {
    path: '/settings/webhooks',
    title: 'Webhooks',
    icon: IconWebhook,
    section: 'Settings',
    role: 'admin',
    load: async () => (await import('../pages/webhooks/webhooks-page.tsx')).WebhooksPage,
  },
  {
    path: '/settings/webhooks/$id/deliveries',
    title: 'Delivery log',
    role: 'admin',
    load: async () => (await import('../pages/webhooks/deliveries-page.tsx')).DeliveriesPage,
  },
]
