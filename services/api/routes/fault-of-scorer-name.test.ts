import { expect, test } from '@jest/globals'
import { faultOfScorerName } from './fault-of-scorer-name.ts'

test.each([
  ['our_words', undefined],
  ['Préfixes 2.0', undefined],
  ['pii_of_customers', undefined],
  ['pii_detection_2', undefined],
  ['pii_detecton', 'pii_detection'],
  ['PII-Detection', 'pii_detection'],
  ['halucinations', 'hallucination'],
  ['supply chain', 'supply_chain'],
  ['<script>', 'letters'],
  [' padded', 'letters'],
  ['x'.repeat(101), 'letters'],
])('"%s": %s', (name, fault) => {
  if (fault === undefined) expect(faultOfScorerName(name)).toBeUndefined()
  else expect(faultOfScorerName(name)).toContain(fault)
})
