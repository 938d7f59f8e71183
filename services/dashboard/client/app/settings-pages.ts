import {
  IconCreditCard,
  IconFolders,
  IconHistory,
  IconKey,
  IconSettings,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
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
  {
    path: '/settings/project',
    title: 'Project settings',
    icon: IconSettings,
    section: 'Settings',
    role: 'admin',
    load: async () => (await import('../pages/projects/project-settings-page.tsx')).ProjectSettingsPage,
  },
  {
    path: '/settings/billing',
    title: 'Billing',
    icon: IconCreditCard,
    section: 'Settings',
    role: 'admin',
    load: async () => (await import('../pages/billing/billing-page.tsx')).BillingPage,
  },
  {
    path: '/settings/projects',
    title: 'Projects',
    icon: IconFolders,
    section: 'Settings',
    role: 'admin',
    isGlobal: true,
    load: async () => (await import('../pages/projects/projects-page.tsx')).ProjectsPage,
  },
  {
    path: '/settings/people',
    title: 'People',
    icon: IconUsers,
    section: 'Settings',
    role: 'admin',
    isGlobal: true,
    load: async () => (await import('../pages/people/people-page.tsx')).PeoplePage,
  },
  {
    path: '/settings/audit',
    title: 'Audit log',
    icon: IconHistory,
    section: 'Settings',
    role: 'admin',
    isGlobal: true,
    load: async () => (await import('../pages/audit/audit-page.tsx')).AuditPage,
  },
]
