import type { AssessWorkDeps } from './assess-work.ts'
import type { Assessment, AssessWork, Work } from './risk.ts'

/** Loads the parser of commands with the first piece of work, so that a start does not wait for it. */
export function createLaterAssessWork(deps: AssessWorkDeps): (work: Work) => Promise<Assessment> {
  let loaded: Promise<AssessWork> | null = null
  return async (work) => {
    loaded ??= import('./assess-work.ts').then(({ createAssessWork }) => createAssessWork(deps))
    return (await loaded)(work)
  }
}
