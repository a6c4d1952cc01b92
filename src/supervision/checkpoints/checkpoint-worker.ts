// The thread that `create-checkpoints.ts` starts for one job.

import { parentPort, workerData } from 'node:worker_threads'
import { type CheckpointReply, failureOf, runCheckpointJob } from './checkpoint-job.ts'

const reply = (message: CheckpointReply): void => parentPort?.postMessage(message)

try {
  reply({ type: 'done', result: runCheckpointJob(workerData, () => performance.now()) })
} catch (error) {
  reply({ type: 'failed', failure: failureOf(error) })
}
