import type { Item } from '../../api/call-api.ts'

export type PersonEntry = Item<'GET /api/people'>
