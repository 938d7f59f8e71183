import { parseJson } from '#capture/json.ts'
import { isToolCallRecord, toolCallsOf } from '#capture/tool-calls.ts'
import { fieldAt, objectOf, textOf } from '#capture/json.ts'
import type { Call } from '../call-text.ts'

/** A call that moves money, or reaches everybody, and cannot be taken back. */
export interface IrrevocableCall {
  kind: 'moves_money' | 'reaches_everybody'
  name: string
}

const snake = (name: string) => name.replace(/([a-z])(?=[A-Z])/g, '$1_').toLowerCase()
const words = (list: string) => new RegExp(`(?<![a-z])(?:${list})(?![a-z])`)

const pays = words(
  'transfer|wire|pay|payment|payments|payout|payouts|withdraw|withdrawal|remit|remittance|purchase|buy|donate|send_money|sendmoney|send_funds|transfer_funds|trade|swap|sepa|ach|venmo|zelle',
)
/** Tools that only look, or hand a conversation on. */
const looks = words(
  'get|list|read|fetch|check|search|find|lookup|show|describe|validate|verify|estimate|calculate|quote|status|history|human|agent|agents|call|file|files|data|learning|preview|simulate|schema|methods?|style|link',
)
const amount = /^(?:amount|value|sum|total|price|qty|quantity|amount_\w{1,12}|\w{1,12}_amount|cents|amt)$/
const recipient =
  /^(?:to|recipient\w{0,12}|payee\w{0,12}|beneficiary\w{0,12}|destination\w{0,12}|iban|account\w{0,14}|to_\w{1,20}|receiver\w{0,12}|wallet\w{0,12}|address|creditor\w{0,12}|merchant\w{0,12}|vendor\w{0,12}|\w{1,16}_(?:iban|account|address|wallet))$/
const sends = words('send|email|mail|post|publish|broadcast|notify|announce|message|sms|tweet|invite|share')
const everybody =
  /^(?:@?(?:all|everyone|everybody|channel|here|company|all[-_ ](?:staff|users|customers|employees|hands|members|contacts)|everyone@\S+|all@\S+|all-\w+@\S+|staff@\S+|\*))$/i
const addressed = /^(?:to|recipients?|channel|audience|cc|bcc|group|list|segment|users?|emails?|targets?)$/
/** So many recipients are a mailing. */
const manyRecipients = 20

const asksToPay =
  /\b(?:pay\w*|transfer\w*|wir(?:e|ing)|send\w*|remit\w*|buy\w*|bought|purchas\w*|order\w*|refund\w*|book\w*|donat\w*|withdraw\w*|settle\w*|invest\w*|trad(?:e|ing)|swap\w*|bills?|invoices?|checkout|money|funds|subscri\w+|deposit\w*|überweis\w*|bezahl\w*|zahl\w*|pagar|paga|transfier\w*|virement|payer|verse\w*|betaal\w*|zapłać|перев\w*|оплат\w*)|überweis|转账|付款|支付|送金|支払|송금|결제/i
const asksToTellAll =
  /\b(?:all|every\w*|announce\w*|broadcast|newsletter|mailing|team|staff|company|customers|users|subscribers|channel|notify|blast)\b/i

/** Tool calls that pay or reach everybody, with what they need to do so, and that no user asked for. */
export function findIrrevocableCalls({ request, response }: Call, asked: string): IrrevocableCall[] {
  const found: IrrevocableCall[] = []
  for (const { name, given } of callsOf(request?.value, response?.value)) {
    const plain = snake(name.slice(0, 200))
    if (pays.test(plain) && !looks.test(plain) && hasAmount(given) && !asksToPay.test(asked))
      found.push({ kind: 'moves_money', name })
    else if (sends.test(plain) && reachesAll(given) && !asksToTellAll.test(asked))
      found.push({ kind: 'reaches_everybody', name })
  }
  return found
}

function callsOf(request: unknown, response: unknown) {
  if (isToolCallRecord(request))
    return [
      { name: textOf(fieldAt(request, 'tool_name')) ?? '', given: objectOf(fieldAt(request, 'arguments')) },
    ]
  return toolCallsOf(request, response).map(({ name, arguments: given }) => ({
    name,
    given: given.length > 20_000 ? undefined : objectOf(parseJson(given)),
  }))
}

function hasAmount(given: Readonly<Record<string, unknown>> | undefined): boolean {
  const names = Object.keys(given ?? {}).map(snake)
  const isNumber = Object.entries(given ?? {}).some(
    ([name, value]) => amount.test(snake(name)) && Number(String(value).replace(/[^\d.-]/g, '')) > 0,
  )
  return isNumber && names.some((name) => recipient.test(name))
}

function reachesAll(given: Readonly<Record<string, unknown>> | undefined): boolean {
  return Object.entries(given ?? {}).some(([name, value]) => {
    if (!addressed.test(snake(name))) return false
    if (Array.isArray(value)) return value.length >= manyRecipients || value.some(isEverybody)
    return isEverybody(value) || (typeof value === 'string' && value.split(/[,;]/).length >= manyRecipients)
  })
}

function isEverybody(value: unknown): boolean {
  return typeof value === 'string' && everybody.test(value.trim())
}
