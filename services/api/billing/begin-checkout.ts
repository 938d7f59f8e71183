import { Problem } from '#http/problem.ts'
import type { OneProject, ProjectDatabase } from '../stores/project-database.ts'
import { noteCheckout, type PaymentReferences } from '../stores/subscription-store.ts'
import type { CheckoutInput, PaymentProvider } from './payment-provider.ts'

export interface CheckoutAsked extends Omit<CheckoutInput, 'customerId' | 'projectId'> {
  /** Whether a price is of the tier that is asked for. */
  isOfTier: (price: string) => boolean
}

/**
 * Where to send whoever pays: a checkout, or, where a subscription is running, a page that changes it. Of a project one checkout at a time can be
 * paid: two in two tabs would be two subscriptions. Whether the last one was paid its provider says, whose events may be late. Rejects with 409
 * where the tier is paid for, or another checkout was begun meanwhile.
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
  // Whom events named may have paid since; who paid the last checkout may not have been named yet.
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
