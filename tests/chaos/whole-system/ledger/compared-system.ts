import type { Kafka } from 'kafkajs'
import type { ServiceProcess } from '../../../support/service-process.ts'
import type { ChaosProjects } from '../fixture/make-projects.ts'
import type { Receivers } from '../fixture/receivers.ts'

/** What a ledger is read from. */
export interface ComparedSystem {
  kafka: Kafka
  topicPrefix: string
  parts: { postgres: { url: string }; receivers: Receivers }
  /** Those that run, by names of the roster. */
  services: ReadonlyMap<string, ServiceProcess>
  projects: ChaosProjects
}
