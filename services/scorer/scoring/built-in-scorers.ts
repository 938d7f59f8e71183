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

/** The detector of a built-in scorer; what it leaves open its rubric decides (`evals/rubrics/<name>.md`), applied by the judge. */
export interface BuiltIn {
  version: string
  /** The bodies that its `safe` is about: it holds only where they were kept whole. */
  reads: readonly BodyPart[]
  create: (call: Call) => Detector
}

// Who reads answers reads requests too: what a tool-call record asks for stands there, and what tools were offered.
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
