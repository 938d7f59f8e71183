import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { agencyVersion, createAgencyDetector } from './agency/detect-agency.ts'
import type { BodyPart, Call } from './call-text.ts'
import { consumptionVersion, createConsumptionDetector } from './consumption/detect-consumption.ts'
import { contentVersion, createContentDetector } from './content/detect-content.ts'
import { createHallucinationDetector, hallucinationVersion } from './grounding/detect-hallucination.ts'
import { createInjectionDetector, injectionVersion } from './injection/detect-injection.ts'
import { createJailbreakDetector, jailbreakVersion } from './jailbreak/detect-jailbreak.ts'
import { createLeakageDetector, leakageVersion } from './leakage/detect-leakage.ts'
import { createPiiDetector, piiVersion } from './pii/detect-pii.ts'
import { createPoisoningDetector, poisoningVersion } from './poisoning/detect-poisoning.ts'
import { createSupplyChainDetector, supplyChainVersion } from './supply-chain/detect-supply-chain.ts'
import type { Detector } from './verdict.ts'

/** A built-in scorer's detector. What it leaves open, the judge decides by `evals/rubrics/<name>.md`. */
export interface BuiltIn {
  version: string
  /** The bodies behind its `safe` verdict, which holds only if they were kept whole. */
  reads: readonly BodyPart[]
  create: (call: Call) => Detector
}

// Scorers of answers read requests too: they contain tool-call arguments and the tools offered.
const both = ['request_body', 'response_body'] as const

export const builtIns: Readonly<Record<BuiltInScorer, BuiltIn>> = {
  content_safety: { version: contentVersion, reads: both, create: createContentDetector },
  pii_detection: { version: piiVersion, reads: both, create: createPiiDetector },
  jailbreak_detection: {
    version: jailbreakVersion,
    reads: ['request_body'],
    create: createJailbreakDetector,
  },
  system_prompt_leakage: { version: leakageVersion, reads: both, create: createLeakageDetector },
  supply_chain: { version: supplyChainVersion, reads: both, create: createSupplyChainDetector },
  excessive_agency: { version: agencyVersion, reads: both, create: createAgencyDetector },
  hallucination: { version: hallucinationVersion, reads: both, create: createHallucinationDetector },
  data_poisoning: { version: poisoningVersion, reads: both, create: createPoisoningDetector },
  vector_weakness: { version: injectionVersion, reads: both, create: createInjectionDetector },
  unbounded_consumption: { version: consumptionVersion, reads: both, create: createConsumptionDetector },
}
