import { Problem } from '#http/problem.ts'
import type { OneProject, ProjectDatabase } from '../stores/project-database.ts'
import { noteCheckout, type PaymentReferences } from '../stores/subscription-store.ts'
import type { CheckoutInput, PaymentProvider } from './payment-provider.ts'

export interface CheckoutAsked extends Omit<CheckoutInput, 'customerId' | 'projectId'> {
  /** Whether a price belongs to the requested tier. */
  isOfTier: (price: string) => boolean
}

/**
 * The page where the customer pays: a checkout, or the page that changes a running subscription. A project
 * can pay one checkout at a time, because two in two tabs would be two subscriptions. The provider says
 * whether the last one was paid, since its events may be late. Rejects with 409 when the tier is paid for, or
 * when another checkout started meanwhile.
 */
export async function beginCheckout(
  database: ProjectDatabase<OneProject>,
  provider: PaymentProvider,
  references: PaymentReferences,
  { isOfTier, ...asked }: CheckoutAsked,
): Promise<{ id: string; url: string | null }> {
  const { checkoutId: before, subscriptionId } = references
  const paid = before === null ? null : await provider.closeCheckout(before)
  const input = { ...asked, projectId: database.scope.projectId }
  // A customer named by events may have paid since; the payer of the last checkout may not be named yet.
  const customerIds = new Set([references.customerId, paid?.customerId ?? null].filter((id) => id !== null))
  for (const customerId of customerIds) {
    const change = await provider.createPriceChange({ ...input, customerId, subscriptionId, isOfTier })
    if (change !== null) return change
  }
  const [customerId = null] = customerIds
  const checkout = await provider.createCheckout({ ...input, customerId })
  if (await noteCheckout(database, { before, checkoutId: checkout.id })) return checkout
  await provider.closeCheckout(checkout.id)
  throw new Problem(
    409,
    'CHECKOUT_UNDER_WAY',
    'another checkout of the project was begun at the same moment: go on there, or ask again',
  )
}
