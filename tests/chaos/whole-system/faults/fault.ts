import type { FaultShape } from '../schedule/plan-faults.ts'
import type { Fixture } from '../fixture/start-fixture.ts'

export type Undo = () => Promise<void> | void

export interface Fault extends FaultShape {
  /** Strikes. The function is its inverse: it resolves when what was struck works again. */
  begin(fixture: Fixture, target: string): Promise<Undo>
}
