// The thread that `create-worktrees.ts` starts for one job.

import { answerJob } from '../checkpoints/run-in-thread.ts'
import { runWorktreeJob, type WorktreeJob } from './worktree-job.ts'

await answerJob((job: WorktreeJob) => runWorktreeJob(job, () => performance.now()))
