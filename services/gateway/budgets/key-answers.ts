import type { GatewayAnswer } from '../traffic/gateway-answer.ts'

/** A call that its key may not make. */
export class CallRefused extends Error {
  readonly answer: GatewayAnswer

  constructor(answer: GatewayAnswer) {
    super(answer.message)
    this.answer = answer
  }
}

const shownModels = 20

function listed(models: readonly string[]): string {
  if (models.length === 0) return 'It may call none.'
  const more = models.length > shownModels ? `, and ${models.length - shownModels} more` : ''
  return `It may call: ${models.slice(0, shownModels).join(', ')}${more}.`
}

export function modelNotAllowed(model: string, models: readonly string[]): GatewayAnswer {
  return {
    status: 403,
    message: `This key may not call the model ${JSON.stringify(model.slice(0, 256))}. ${listed(models)}`,
    type: 'invalid_request_error',
    code: 'model_not_allowed',
    refusal: 'model',
  }
}

export function modelUnknown(models: readonly string[] | null): GatewayAnswer {
  return {
    status: 403,
    message: `The gateway cannot read which model this request calls, which it has to for this key: name it in a JSON body or in the path.${models === null ? '' : ` ${listed(models)}`}`,
    type: 'invalid_request_error',
    code: 'model_unknown',
    refusal: 'model',
  }
}

export function modelWithoutPrice(model: string): GatewayAnswer {
  return {
    status: 403,
    message: `This key has a monthly budget, and the gateway knows no price of the model ${JSON.stringify(model.slice(0, 256))} (PRICES_FILE).`,
    type: 'invalid_request_error',
    code: 'model_without_price',
    refusal: 'model',
  }
}

export const notCheckable: GatewayAnswer = {
  status: 413,
  message:
    'The body of the request is larger than the gateway reads for a key with a model list or a budget (32 MiB), or more than it has memory for now.',
  type: 'invalid_request_error',
  code: 'request_not_checkable',
  refusal: 'body',
}

export function tooManyCalls(perMinute: number, retryAfterSeconds: number): GatewayAnswer {
  return {
    status: 429,
    message: `This key may make ${perMinute} calls a minute. Try again in ${retryAfterSeconds} s.`,
    type: 'rate_limit_error',
    code: 'key_rate_limit_exceeded',
    refusal: 'rate',
    retryAfterSeconds,
  }
}

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** `month`: its first day. */
export function budgetExceeded(budgetUsd: number, month: string, nowMs: number): GatewayAnswer {
  const start = new Date(month)
  const end = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1))
  return {
    status: 429,
    message: `What is left of this key's budget of $${budgetUsd} for ${monthName.format(start)} does not suffice for this call; the next month begins at ${end.toISOString()}.`,
    type: 'insufficient_quota',
    code: 'key_budget_exceeded',
    refusal: 'budget',
    retryAfterSeconds: Math.max(1, Math.ceil((end.getTime() - nowMs) / 1_000)),
  }
}

export const budgetUnknown: GatewayAnswer = {
  status: 503,
  message: "The gateway cannot learn what is left of this key's budget at the moment. Try again later.",
  type: 'server_error',
  code: 'budget_check_unavailable',
  refusal: 'budget',
  retryAfterSeconds: 1,
}
