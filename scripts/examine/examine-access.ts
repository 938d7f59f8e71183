import kafkajs from 'kafkajs'
import { typeOfError } from '#runtime/kafka/protocol-errors.ts'
import type { System } from './find-system.ts'
import { ok, skipped, warning, type Finding } from './finding.ts'

/** Whether Kafka enforces ACLs, and whether it allows everything to everyone. */
export async function examineAccess({ kafka, config }: System): Promise<Finding[]> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const { resources } = await admin.describeAcls({
      resourceType: kafkajs.AclResourceTypes.TOPIC,
      resourcePatternType: kafkajs.ResourcePatternTypes.ANY,
      permissionType: kafkajs.AclPermissionTypes.ANY,
      operation: kafkajs.AclOperationTypes.ANY,
    })
    const ours = resources.filter(
      ({ resourceName }) => resourceName === '*' || resourceName.startsWith(config.TOPIC_PREFIX),
    )
    const open = ours.filter(({ acls }) =>
      acls.some(
        ({ principal, permissionType }) =>
          principal === 'User:*' && permissionType === kafkajs.AclPermissionTypes.ALLOW,
      ),
    )
    return open.length === 0
      ? [ok('acl', `Kafka checks rights: rules for ${ours.length} names of topics`)]
      : open.map(({ resourceName }) =>
          warning(
            'acl',
            `everybody has rights on ${resourceName}`,
            'take User:* away with kafka-acls.sh --remove: topics hold what people wrote',
          ),
        )
  } catch (error) {
    const type = typeOfError(error)
    if (type === 'SECURITY_DISABLED') return [skipped('acl', 'Kafka checks no rights: it has no authorizer')]
    if (type !== 'CLUSTER_AUTHORIZATION_FAILED') throw error
    return [skipped('acl', "Kafka checks rights; this user's do not let it see those of others")]
  } finally {
    await admin.disconnect()
  }
}
