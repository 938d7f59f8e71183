import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { agencyVersion, createAgencyDetector } from './agency/detect-agency.ts'
import type { Call } from './call-text.ts'
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
  create: (call: Call) => Detector
}

export const builtIns: Readonly<Record<BuiltInScorer, BuiltIn>> = {
  content_safety: { version: contentVersion, create: createContentDetector },
  pii_detection: { version: piiVersion, create: createPiiDetector },
  jailbreak_detection: { version: jailbreakVersion, create: createJailbreakDetector },
  system_prompt_leakage: { version: leakageVersion, create: createLeakageDetector },
  supply_chain: { version: supplyChainVersion, create: createSupplyChainDetector },
  excessive_agency: { version: agencyVersion, create: createAgencyDetector },
  hallucination: { version: hallucinationVersion, create: createHallucinationDetector },
  data_poisoning: { version: poisoningVersion, create: createPoisoningDetector },
  vector_weakness: { version: injectionVersion, create: createInjectionDetector },
  unbounded_consumption: { version: consumptionVersion, create: createConsumptionDetector },
}
