// The thread that `check-agent-text.ts` starts for one text.

import { parentPort, workerData } from 'node:worker_threads'
import { agentTextProblems } from './agent-text-problems.ts'

parentPort?.postMessage(agentTextProblems(String(workerData)))
