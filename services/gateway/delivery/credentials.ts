import type { GatewayConfig } from '../config.ts'

/** The header that says who asks the API service. */
export interface Credential {
  name: string
  value: string
}

/** As the project of SERVICE_API_KEY. */
export function keyCredential({ SERVICE_API_KEY: key }: GatewayConfig): Credential | undefined {
  return key === undefined ? undefined : { name: 'x-service-key', value: key }
}

/** As the operator, who says in each record whose it is. */
export function secretCredential({ INTERNAL_API_SECRET: secret }: GatewayConfig): Credential | undefined {
  return secret === undefined ? undefined : { name: 'authorization', value: `Bearer ${secret}` }
}
