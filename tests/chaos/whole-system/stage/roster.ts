/** What runs: the folder of services/ and a number. Two that serve applications, two of each consumer. */
export const processNames = [
  'gateway-1',
  'gateway-2',
  'api-1',
  'ingest-1',
  'sink-1',
  'sink-2',
  'scorer-1',
  'scorer-2',
  'notifier-1',
  'notifier-2',
] as const

/** Those whose number is raised and lowered while the others run. */
export const consumers = ['sink', 'scorer', 'notifier'] as const

export const gateways = ['gateway-1', 'gateway-2'] as const
export const brokerNumbers = ['1', '2', '3'] as const

/** `sink-1` is one of sink. */
export function serviceOf(name: string): string {
  return name.slice(0, name.lastIndexOf('-'))
}
