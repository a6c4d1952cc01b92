// The bound on what one check may cost. Schemas and values are strangers' words: neither may hold up everybody else.

/** Values looked at, names compared, steps of patterns: some tens of milliseconds at most. */
const MAX_WORK = 500_000
const MAX_NESTED_CALLS = 1_500

/** A value that is not gone through to its end; the message is for whoever wrote it. */
export class Unchecked extends Error {}

export interface Meter {
  spend(work: number): void
  /** Runs one level deeper. */
  nested<T>(task: () => T): T
}

export function createMeter(): Meter {
  let work = 0
  let depth = 0
  const refuse = () => new Unchecked('the value is too large to be checked against its schema; send less at once')
  return {
    spend(more) {
      work += more
      if (work > MAX_WORK) throw refuse()
    },
    nested(task) {
      depth += 1
      if (depth > MAX_NESTED_CALLS) throw refuse()
      const result = task()
      depth -= 1
      return result
    },
  }
}
