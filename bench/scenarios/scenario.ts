import type { Figure } from '../figure.ts'
import { median } from '../percentiles.ts'
import type { LoadPlan, LoadResult, Stage, Target } from '../stage.ts'

export interface Scenario {
  readonly name: string
  run(stage: Stage, options: ScenarioOptions): Promise<Figure[]>
}

interface ScenarioOptions {
  /** Length of one measured round. Null: the scenario decides. */
  seconds: number | null
}

/** Lets code compile and heaps settle: the first second of a process does not show how it runs later. */
export const WARM_UP: LoadPlan = { parallel: 20, seconds: 3, message: 'full', tokens: 200 }

export async function warmUp(stage: Stage, targets: readonly Target[]): Promise<void> {
  for (const target of targets) await stage.load(target, WARM_UP)
}

/** Measures the targets in turn, so that a noisy minute of the machine affects all equally. Returns one list of results per target. */
export async function alternate(
  stage: Stage,
  targets: readonly Target[],
  rounds: number,
  plan: (target: Target) => LoadPlan,
): Promise<LoadResult[][]> {
  const results: LoadResult[][] = targets.map(() => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, target] of targets.entries()) results[index]?.push(await stage.load(target, plan(target)))
  }
  return results
}

export const medianOf = (results: readonly LoadResult[], pick: (result: LoadResult) => number): number =>
  median(results.map(pick))

export const allProblems = (results: readonly LoadResult[]): string[] => results.flatMap((result) => result.problems)
