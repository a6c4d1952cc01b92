import { silentLogger } from '../../domain/logger.ts'
import { createJanitor, type Janitor, type JanitorDeps } from '../sessions/janitor.ts'
import { createOwnJobs } from '../sessions/jobs.ts'
import { testAgent } from './open-engine.ts'

/** The janitor of a server that is alone, without files and agents elsewhere. */
export const openJanitor = (
  parts: Pick<JanitorDeps, 'engine' | 'store' | 'log' | 'clock'> & Partial<JanitorDeps>,
): Janitor =>
  createJanitor({
    logger: silentLogger,
    sessions: testAgent.sessions,
    files: null,
    expireElsewhere: async () => {},
    sweepElsewhere: async () => {},
    tidyPrograms: async () => {},
    tidyElsewhere: async () => {},
    jobs: createOwnJobs(parts.clock),
    tidyReplicas: async () => {},
    unsentFileSeconds: 24 * 60 * 60,
    ...parts,
  })
