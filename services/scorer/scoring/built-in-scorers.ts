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

/** How a built-in scorer comes to its verdict. */
export type BuiltIn =
  /** Deterministic evidence decides. */
  | { by: 'detector'; version: string; create: (call: Call) => Detector }
  /** Its rubric (`evals/rubrics/<name>.md`) decides, applied by the judge. */
  | { by: 'judge' }

export const builtIns: Readonly<Record<BuiltInScorer, BuiltIn>> = {
  content_safety: { by: 'detector', version: contentVersion, create: createContentDetector },
  pii_detection: { by: 'detector', version: piiVersion, create: createPiiDetector },
  jailbreak_detection: { by: 'detector', version: jailbreakVersion, create: createJailbreakDetector },
  system_prompt_leakage: { by: 'detector', version: leakageVersion, create: createLeakageDetector },
  supply_chain: { by: 'detector', version: supplyChainVersion, create: createSupplyChainDetector },
  excessive_agency: { by: 'detector', version: agencyVersion, create: createAgencyDetector },
  hallucination: { by: 'detector', version: hallucinationVersion, create: createHallucinationDetector },
  data_poisoning: { by: 'detector', version: poisoningVersion, create: createPoisoningDetector },
  vector_weakness: { by: 'detector', version: injectionVersion, create: createInjectionDetector },
  unbounded_consumption: { by: 'detector', version: consumptionVersion, create: createConsumptionDetector },
}
