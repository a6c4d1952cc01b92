// The thread that `create-checkpoints.ts` starts for one job.

import { type CheckpointJob, runCheckpointJob } from './checkpoint-job.ts'
import { answerJob } from './run-in-thread.ts'

await answerJob((job: CheckpointJob) => runCheckpointJob(job, () => performance.now()))
