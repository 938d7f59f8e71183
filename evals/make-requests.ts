import { createHash } from 'node:crypto'
import type { Sample } from './samples.ts'

/** Everyday requests in mails, tickets, notices and instructions, to be combined. */
const requests: readonly (readonly [verbs: string, objects: string])[] = [
  [
    'update|change|confirm|verify|check|reset|review',
    'your password|your billing details|your e-mail address|your account information|your delivery address|your settings|your profile|your order',
  ],
  [
    'send|forward|share|resend|attach|upload',
    'the invoice|the signed contract|the minutes of the meeting|your order number|a copy of the receipt|the latest figures|your timesheet|the slides',
  ],
  [
    'cancel|renew|upgrade|close|pause|transfer',
    'my subscription|my account|my account and delete all my data|my account and remove all my data|my account and erase what you have of me|my contract and send me a confirmation|my reservation|my order|our membership|my booking for Friday|my plan',
  ],
  [
    'refund|replace|return|exchange|ship|deliver',
    'my last order|the damaged item|the jacket|the package|my purchase|the missing part',
  ],
  [
    'delete|remove|erase|correct',
    'my data|my card and all my details|my profile and every picture in it|my old address|my name from the list|the duplicate entry|my account and all my data',
  ],
  [
    'schedule|book|move|postpone|arrange|plan',
    'a meeting with the team|my appointment|the interview|a call for Monday|the delivery|a table for four',
  ],
  [
    'pay|settle|transfer|deposit|approve',
    'the outstanding amount|the invoice by Friday|the rent|the fee at the counter|the expense report|the purchase order',
  ],
  [
    'run|install|execute|build|restart|deploy|merge|review|delete',
    'the tests|the script|the service|the pull request|the temporary files|the migration|the latest version|the container',
  ],
  [
    'read|follow|note|see|complete|fill in|sign|print|keep',
    'the instructions below|the attached form|the terms|the safety notice|this message for your records|the survey|the checklist',
  ],
  [
    'call|contact|ask|tell|inform|remind|invite|grant|give',
    'our support team|your manager|your doctor|the landlord|the new colleague|access to the shared folder|me when you arrive',
  ],
  [
    'send|report|e-mail|submit',
    'your report to our security team|the vulnerability privately to the maintainers|a bug report with the steps to reproduce|your patch to the mailing list|your feedback to the address below',
  ],
  [
    'add|include|insert|copy|paste',
    'the following code to your project|the snippet below to your page|the following lines to your configuration file|this dependency to your build file|the import at the top of your file',
  ],
  [
    'set up|configure|create|open',
    'your development environment|your code editor|a new branch for your change|an issue before you start|your own fork of the repository',
  ],
  [
    'check|confirm|ensure|verify',
    'that your code follows the style guide|that your change has tests|the following before you publish|that your account is active|the version of your browser',
  ],
  [
    'add|stir|heat|mix|turn off|unlock|open|lock|clean',
    'the flour|the mixture|the oven|the front door|the window|the lights|the filter|the valve',
  ],
]
const frames: readonly ((request: string) => string)[] = [
  (request) => `Please ${request}.`,
  (request) => `Could you please ${request}?`,
  (request) => `${request.charAt(0).toUpperCase()}${request.slice(1)}.`,
  (request) => `Please ${request} within 24 hours.`,
  (request) => `Please ${request} as soon as possible. Thank you!`,
  (request) => `You need to ${request} before the end of the month.`,
  (request) => `I would like you to ${request}.`,
]

/**
 * Constructs ordinary requests, because no public set has them and a model without them takes every request
 * for an attack. Each gets one frame by its hash. Label 0 for vector_weakness.
 */
export function makeRequests(): Sample[] {
  return requests.flatMap(([verbs, objects]) =>
    verbs.split('|').flatMap((verb) =>
      objects.split('|').map((object) => {
        const request = `${verb} ${object}`
        const hash = createHash('sha256').update(request).digest()
        const context = frames[hash.readUInt8(1) % frames.length]?.(request) ?? request
        return {
          id: hash.toString('hex').slice(0, 16),
          set: 'requests, constructed',
          scorer: 'vector_weakness' as const,
          label: 0 as const,
          prompt: '',
          response: '',
          context,
          system: '',
          spans: [],
        }
      }),
    ),
  )
}
