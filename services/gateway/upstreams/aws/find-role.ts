import { hostOf, isLoopback } from '#runtime/outbound-address.ts'
import type { RoleSource } from './fetch-keys.ts'

const ecsHost = 'http://169.254.170.2'
/** The agents of ECS and EKS. Other hosts need TLS, as the answer contains keys. */
const plainHosts: ReadonlySet<string> = new Set(['169.254.170.2', '169.254.170.23', 'fd00:ec2::23'])

/**
 * Where the role of this process comes from, by the variables that AWS's clients read, in their order: web
 * identity, the container, the instance. A text says what is wrong.
 */
export function findRole(environment: NodeJS.ProcessEnv, region: string): RoleSource | string {
  const read = (name: string) => (environment[name] === '' ? undefined : environment[name])
  const roleArn = read('AWS_ROLE_ARN')
  const tokenFile = read('AWS_WEB_IDENTITY_TOKEN_FILE')
  if (tokenFile !== undefined) {
    if (roleArn === undefined) return 'AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not'
    const sessionName = read('AWS_ROLE_SESSION_NAME') ?? 'sluice-gateway'
    const stsUrl = read('AWS_ENDPOINT_URL_STS') ?? stsOf(region)
    return { kind: 'web_identity', roleArn, tokenFile, sessionName, stsUrl }
  }
  const relative = read('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI')
  const url = relative === undefined ? read('AWS_CONTAINER_CREDENTIALS_FULL_URI') : `${ecsHost}${relative}`
  if (url !== undefined) {
    if (!isTrusted(url)) return 'AWS_CONTAINER_CREDENTIALS_FULL_URI needs https, or an agent on this machine'
    const file = read('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE')
    const value = read('AWS_CONTAINER_AUTHORIZATION_TOKEN')
    const token = file === undefined ? (value === undefined ? undefined : { value }) : { file }
    return { kind: 'container', url, token }
  }
  const endpoint = read('AWS_EC2_METADATA_SERVICE_ENDPOINT') ?? 'http://169.254.169.254'
  return { kind: 'instance', url: endpoint.replace(/\/+$/, '') }
}

function stsOf(region: string): string {
  return `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`
}

function isTrusted(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  const host = hostOf(hostname)
  return protocol === 'https:' || (protocol === 'http:' && (isLoopback(host) || plainHosts.has(host)))
}
