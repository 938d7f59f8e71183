import type { Suspicion } from '../phrases/suspect.ts'

/** People who give answers or get them. A passage for a model says "user". */
const people = new RegExp(
  [
    String.raw`\b(?:staff|employees?|colleagues?|recruiters?|receptionists?|representatives?|reps|(?:support|service|sales|human|live|call[- ]?cent(?:er|re)) agents?|call[- ]?cent(?:er|re)|hotline|help ?desk|front desk|customer (?:service|support|care)|handbook|playbook|onboarding|volunteers?|nurses?|teachers?|cashiers?|interviewers?|customers?|guests?|patients?|callers?|tenants?|visitors?|applicants?|faqs?)\b`,
    String.raw`\b(?:mitarbeite|kolleg|hotline|kunde|kundin|gäste|bewerber|leitfaden|handbuch|anrufer)`,
    String.raw`\b(?:empleados?|compañeros|recepci|clientes?|huésped|llamadas|salari[ée]s|collègues|accueil|atendente|funcionári|colegas|hóspede|dipendent|colleghi|clienti|ospiti)`,
    String.raw`сотрудник|клиент|客服|员工|顾客|客户|スタッフ|従業員|お客様|고객|직원|موظف|العملاء|कर्मचारी|ग्राहक`,
  ].join('|'),
)
/** Found in instructions for people too. */
const prescriptions = new Set(['prescribes_answer', 'answer_on_demand'])
const aroundUnits = 200
/** Left to the judge; 4 convicts. */
const guidingPoints = 3

/**
 * Lowers the suspicion below conviction if all of it is prescribed answers near people who give or get them:
 * an FAQ, or a guide for a hotline.
 */
export function discountGuidance(text: string, suspicion: Suspicion): Suspicion {
  const { kinds, hits, points } = suspicion
  if (points <= guidingPoints || !kinds.every((kind) => prescriptions.has(kind))) return suspicion
  const from = Math.max(0, (hits[0]?.start ?? 0) - aroundUnits)
  const near = text.slice(from, (hits.at(-1)?.end ?? 0) + aroundUnits).toLowerCase()
  return people.test(near) ? { ...suspicion, points: guidingPoints } : suspicion
}
