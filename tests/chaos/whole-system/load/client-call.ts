import type { ChaosProject } from '../stage/make-projects.ts'

/** What a client knows of a call that it made. */
export interface ClientCall {
  id: string
  project: ChaosProject['name']
  /** Through a gateway, or told to ingest as the SDK does. */
  way: 'gateway' | 'direct'
  /** `unknown`: the answer did not come, so the call may be stored or not. */
  end: 'taken' | 'refused' | 'unknown'
}
