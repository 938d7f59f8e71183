import { expect, test } from '@jest/globals'
import { findRole } from './find-role.ts'

const web = { AWS_ROLE_ARN: 'arn:aws:iam::1:role/r', AWS_WEB_IDENTITY_TOKEN_FILE: '/token' }
const webIdentity = { kind: 'web_identity', roleArn: web.AWS_ROLE_ARN, tokenFile: '/token' }

test.each<[name: string, environment: Record<string, string>, expected: unknown]>([
  [
    'web identity first',
    { ...web, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/c' },
    { ...webIdentity, sessionName: 'sluice-gateway', stsUrl: 'https://sts.eu-west-1.amazonaws.com/' },
  ],
  [
    'an STS of its own',
    { ...web, AWS_ENDPOINT_URL_STS: 'https://sts.internal', AWS_ROLE_SESSION_NAME: 'me' },
    { ...webIdentity, sessionName: 'me', stsUrl: 'https://sts.internal' },
  ],
  [
    'a token without a role',
    { AWS_WEB_IDENTITY_TOKEN_FILE: '/token' },
    expect.stringMatching(/AWS_ROLE_ARN is not/),
  ],
  [
    'ECS',
    { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/c', AWS_WEB_IDENTITY_TOKEN_FILE: '' },
    { kind: 'container', url: 'http://169.254.170.2/v2/c', token: undefined },
  ],
  [
    'EKS',
    {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://[fd00:ec2::23]/v1/credentials',
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/t',
    },
    { kind: 'container', url: 'http://[fd00:ec2::23]/v1/credentials', token: { file: '/t' } },
  ],
  [
    'a container on another machine without TLS',
    { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://10.0.0.1/c' },
    expect.stringMatching(/needs https/),
  ],
  ['nothing', {}, { kind: 'instance', url: 'http://169.254.169.254' }],
  [
    'a metadata service elsewhere',
    { AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://[fd00:ec2::254]/' },
    { kind: 'instance', url: 'http://[fd00:ec2::254]' },
  ],
])('%s', (_name, environment, expected) => {
  expect(findRole(environment, 'eu-west-1')).toEqual(expected)
})

test('STS in China has an address of its own', () => {
  expect(findRole(web, 'cn-north-1')).toMatchObject({ stsUrl: 'https://sts.cn-north-1.amazonaws.com.cn/' })
})
