import type { GatewayConfig } from '../config.ts'

/** The header that authenticates the gateway to the API service. */
export interface Credential {
  name: string
  value: string
}

/** Authenticates as the project of SERVICE_API_KEY. */
export function keyCredential({ SERVICE_API_KEY: key }: GatewayConfig): Credential | undefined {
  return key === undefined ? undefined : { name: 'x-service-key', value: key }
}

/** Authenticates as the operator; each record then names its project. */
export function secretCredential({ INTERNAL_API_SECRET: secret }: GatewayConfig): Credential | undefined {
  return secret === undefined ? undefined : { name: 'authorization', value: `Bearer ${secret}` }
}
