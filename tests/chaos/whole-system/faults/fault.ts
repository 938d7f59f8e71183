import type { FaultShape } from '../schedule/plan-faults.ts'
import type { Fixture } from '../fixture/start-fixture.ts'

export type Undo = () => Promise<void> | void

export interface Fault extends FaultShape {
  /** Starts the fault. The returned inverse resolves when the target works again. */
  begin(fixture: Fixture, target: string): Promise<Undo>
}
